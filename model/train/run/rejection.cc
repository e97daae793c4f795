#include "model/train/run/rejection.h"

#include <cstdio>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/format/model_bundle.h"
#include "model/format/version_directory.h"
#include "model/train/validation/candidate_judgement.h"
#include "model/train/validation/trained_model.h"

namespace semrank {
namespace {

// The folder of a night's model costs as much disk as a version.
void RemoveOldRejected(const std::string& folder) {
  const auto versions = ListVersionFolders(folder);
  if (!versions.ok()) return;
  // Versions ascend, so the oldest are removed.
  for (std::size_t i = 0; i + kMaxRejected < versions->size(); ++i) {
    std::error_code error;
    std::filesystem::remove_all(VersionPath(folder, (*versions)[i]), error);
  }
}

}  // namespace

std::optional<std::string> DescribeTooFewClicks(const TrainOptions& options,
                                                const TrainingData& data) {
  if (options.publish != PublishMode::kIfBetter || options.force) {
    return std::nullopt;
  }
  const std::size_t num_queries = NumNewQueries(data.judged);
  // Too few clicks would let any model pass, so nothing is trained at all.
  if (num_queries >= kMinJudgedQueries) return std::nullopt;
  return absl::StrFormat(
      "too few new clicks: %d queries would judge the model, and %d are needed",
      num_queries, kMinJudgedQueries);
}

absl::Status JudgeModel(const TrainOptions& options, const TrainingData& data,
                        const TrainingState& state, ThreadPool& pool,
                        ReportContent& report) {
  if (options.publish != PublishMode::kIfBetter) return absl::OkStatus();
  if (data.judged.earlier == nullptr) {
    absl::FPrintF(
        stderr,
        "%s has kept no clicks that it has not learned from (a model "
        "trained without --judge_fraction keeps none): the new clicks alone "
        "judge, and wrong ones would go unnoticed\n",
        options.served_version_dir);
  }
  // The version that the run began from, although a newer one may have been
  // published since.
  const std::filesystem::path served(options.served_version_dir);
  SEMRANK_ASSIGN_OR_RETURN(
      const auto served_model,
      LoadModel(served.parent_path().string(),
                ParseVersionName(served.filename().string()).value_or(0)));
  SEMRANK_ASSIGN_OR_RETURN(
      const auto model,
      ViewAsModel(state.best_weights().views(), report.config, data));
  SEMRANK_ASSIGN_OR_RETURN(
      report.judgement, JudgeCandidate(data.judged, served_model, model, pool));
  for (const JudgementTest& test : report.judgement->tests) {
    absl::FPrintF(stderr, "%s\n", DescribeTest(test));
  }
  if (report.judgement->fit) {
    absl::FPrintF(stderr, "%s\n", DescribeFit(*report.judgement->fit));
  }
  if (report.judgement->chance) {
    absl::FPrintF(stderr, "%s\n", DescribeChance(*report.judgement->chance));
  }
  return absl::OkStatus();
}

absl::StatusOr<TrainingSummary> Reject(const TrainOptions& options,
                                       const TrainingData& data,
                                       const std::string& fault,
                                       ReportContent& report,
                                       TrainingState& state) {
  // A rejected model has the form of a published one, in a folder that servers
  // do not read.
  TrainOptions rejected = options;
  rejected.data.model_dir =
      absl::StrCat(options.data.model_dir, "/", kRejectedFolder);
  SEMRANK_ASSIGN_OR_RETURN(TrainingSummary summary,
                           PublishBest(rejected, report.config, data, state));
  RemoveOldRejected(rejected.data.model_dir);
  // The summary names the folder of the rejected model, and the model directory
  // that is unchanged.
  summary.outcome = RunOutcome::kRejected;
  summary.reason = fault;
  summary.model_dir = options.data.model_dir;
  report.version_dir = summary.version_dir;
  report.rejected = true;
  report.state = "rejected: " + fault;
  return summary;
}

}  // namespace semrank
