// report.html: one training run as a page that a person opens in a browser.
// Loss and NDCG curves, the configuration, what the data look like, the best
// epoch and where it was published.
//
//   File     self-contained: no script, nothing loaded from elsewhere. Replaced
//            as a whole after each epoch, so it can be reloaded meanwhile; the
//            next run into the same folder begins a new one.
//   Threads  one thread.
//   Errors   what the file system answers, with the path.
#ifndef SEMRANK_MODEL_TRAIN_REPORT_TRAINING_REPORT_H_
#define SEMRANK_MODEL_TRAIN_REPORT_TRAINING_REPORT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "model/cli/command_line.h"
#include "model/train/data/data_statistics.h"
#include "model/train/report/training_log.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {

inline constexpr char kReportFile[] = "report.html";

// Everything that the page shows.
struct ReportContent {
  std::string model_dir;
  absl::Time start;
  v1::ModelConfig config;
  DataStatistics data;
  // Those that were set; `config` has the values of the others.
  std::vector<FlagValue> flags;
  std::vector<EpochRecord> epochs;
  // "running", "published as models/shop/3", "finished, not published".
  std::string state = "running";
};

std::string FormatReport(const ReportContent& content);

class TrainingReport {
 public:
  // The page goes to content.model_dir.
  explicit TrainingReport(ReportContent content)
      : content_(std::move(content)) {}

  // The run began then, and these epochs are done.
  void ContinueRun(absl::Time start, std::vector<EpochRecord> epochs);
  absl::Status Append(const EpochRecord& record);
  absl::Status SetState(std::string state);

 private:
  absl::Status Write() const;

  ReportContent content_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_REPORT_TRAINING_REPORT_H_
