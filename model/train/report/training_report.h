// report.html: one training run as a page that a person opens in a browser.
// What to do next, loss and NDCG curves, the model beside BM25, example
// rankings, the configuration, what the data look like, the best epoch and
// where it was published. It fits a phone's width.
//
//   File     self-contained: no script, nothing loaded from elsewhere. Each
//            epoch replaces it as a whole, so it can be reloaded during a run;
//            the next run into the same folder begins a new one.
//   Errors   those of the file system, with the path.
#ifndef SEMRANK_MODEL_TRAIN_REPORT_TRAINING_REPORT_H_
#define SEMRANK_MODEL_TRAIN_REPORT_TRAINING_REPORT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "model/cli/command_line.h"
#include "model/train/data/report_data.h"
#include "model/train/report/run_history.h"
#include "model/train/validation/candidate_judgement.h"
#include "model/train/validation/ranker_comparison.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {

// The content of the page beside the history of the run.
struct ReportContent {
  std::string model_dir;
  v1::ModelConfig config;
  DataStatistics data;
  std::vector<FlagValue> flags;  // `config` has the other settings
  // BM25 and, at the end, the model; none without validation.
  std::optional<RankerComparison> comparison = std::nullopt;
  // The model beside the served one, with --publish=if_better.
  std::optional<CandidateJudgement> judgement = std::nullopt;
  // "running", "published as models/shop/3" or "not published: ...".
  std::string state = "running";
  // The folder of the published model; empty before there is one. The page of a
  // published model shows the commands that serve and try it.
  std::string version_dir = "";
  // The folder is that of a model that was not published.
  bool rejected = false;
};

std::string FormatReport(const ReportContent& content,
                         const RunHistory& history);

// Replaces the page in content.model_dir; of a published model, also the one in
// the folder of its version, which no later run replaces.
absl::Status WriteReport(const ReportContent& content,
                         const RunHistory& history);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_REPORT_TRAINING_REPORT_H_
