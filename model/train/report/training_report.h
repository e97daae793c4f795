// report.html: one training run as a page that a person opens in a browser.
// What to do next, loss and NDCG curves, the model beside BM25, example
// rankings, the configuration, what the data look like, the best epoch and
// where it was published. It fits a phone's width.
//
//   File     self-contained: no script, nothing loaded from elsewhere. Replaced
//            as a whole after each epoch, so it can be reloaded during a run;
//            the next run into the same folder begins a new one.
//   Threads  one thread.
//   Errors   those of the file system, with the path.
#ifndef SEMRANK_MODEL_TRAIN_REPORT_TRAINING_REPORT_H_
#define SEMRANK_MODEL_TRAIN_REPORT_TRAINING_REPORT_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "model/train/report/report_content.h"
#include "model/train/report/training_log.h"
#include "model/train/validation/ranker_comparison.h"
#include "model/train/validation/validator.h"

namespace semrank {

inline constexpr char kReportFile[] = "report.html";

std::string FormatReport(const ReportContent& content);

class TrainingReport {
 public:
  // The page goes to content.model_dir.
  explicit TrainingReport(ReportContent content)
      : content_(std::move(content)) {}

  // Shows a resumed run: when it began, and its finished epochs.
  void ContinueRun(absl::Time start, std::vector<EpochRecord> epochs);
  // Both are shown from the next Append on.
  void SetBeforeTraining(std::optional<ValidationResult> validation) {
    content_.before_training = std::move(validation);
  }
  void SetComparison(std::optional<RankerComparison> comparison) {
    content_.comparison = std::move(comparison);
  }
  // Replaces what was known of the model at the start.
  void SetConfig(v1::ModelConfig config) {
    content_.config = std::move(config);
  }
  absl::Status Append(const EpochRecord& record);
  absl::Status SetState(std::string state);
  // Shows, beside the state, the commands that serve and try that version.
  absl::Status SetPublished(const std::string& version_dir);

 private:
  absl::Status Write() const;

  ReportContent content_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_REPORT_TRAINING_REPORT_H_
