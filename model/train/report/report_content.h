// What report.html shows.
#ifndef SEMRANK_MODEL_TRAIN_REPORT_REPORT_CONTENT_H_
#define SEMRANK_MODEL_TRAIN_REPORT_REPORT_CONTENT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "model/cli/command_line.h"
#include "model/train/data/data_statistics.h"
#include "model/train/report/training_log.h"
#include "model/train/validation/ranker_comparison.h"
#include "model/train/validation/validator.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {

struct ReportContent {
  std::string model_dir;
  absl::Time start;
  v1::ModelConfig config;
  DataStatistics data;
  std::vector<FlagValue> flags;  // `config` has the other settings
  std::vector<EpochRecord> epochs;
  // Of the weights that the run began from; none without validation.
  std::optional<ValidationResult> before_training = std::nullopt;
  // BM25 and, at the end, the model; none without validation.
  std::optional<RankerComparison> comparison = std::nullopt;
  // "running", "published as models/shop/3" or "not published: ...".
  std::string state = "running";
  bool published = false;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_REPORT_REPORT_CONTENT_H_
