// What report.html shows.
#ifndef SEMRANK_MODEL_TRAIN_REPORT_REPORT_CONTENT_H_
#define SEMRANK_MODEL_TRAIN_REPORT_REPORT_CONTENT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "model/cli/command_line.h"
#include "model/eval/metrics/metrics.h"
#include "model/train/data/data_statistics.h"
#include "model/train/report/training_log.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {

struct ReportContent {
  std::string model_dir;
  absl::Time start;
  v1::ModelConfig config;
  DataStatistics data;
  std::vector<FlagValue> flags;  // `config` has the other settings
  std::vector<EpochRecord> epochs;
  // Of BM25 on the judged validation queries, beside the model's.
  std::optional<MetricValues> bm25 = std::nullopt;
  // "running" or "published as models/shop/3".
  std::string state = "running";
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_REPORT_REPORT_CONTENT_H_
