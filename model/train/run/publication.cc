#include "model/train/run/publication.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "model/base/count_text.h"
#include "model/base/file_io.h"
#include "model/base/status_macros.h"
#include "model/format/manifest.h"
#include "model/format/model_bundle.h"
#include "model/format/model_config.h"
#include "model/format/safetensors.h"
#include "model/format/version_directory.h"
#include "model/train/options/option_flags.h"
#include "model/train/report/run_files.h"
#include "model/train/start/kept_pairs.h"
#include "model/train/validation/trained_model.h"

namespace semrank {
namespace {

// With fewer pairs towers rank hardly better than letters do (RESULTS.md, "Few
// pairs").
constexpr std::int64_t kFewPairs = 1000;

// The time of publication differs when the same weights are published again.
std::string WithoutTime(v1::ModelConfig config) {
  config.mutable_training()->clear_create_time();
  return FormatModelConfig(config).value_or("");
}

bool IsSame(const TensorView& a, const TensorView& b) {
  // Bits, not values: -0 is not the same weight as 0.
  return a.shape == b.shape && a.bytes() == b.bytes();
}

bool HasWeights(const std::string& path, const ModelBundle& bundle) {
  const auto file = LoadedFile::Read(path);
  if (!file.ok()) return false;
  const auto tensors = ParseSafetensors((*file)->content(), path);
  return tensors.ok() && tensors->size() == bundle.tensors.size() &&
         std::all_of(bundle.tensors.begin(), bundle.tensors.end(),
                     [&](const TensorView& tensor) {
                       const auto found = tensors->find(tensor.name);
                       return found != tensors->end() &&
                              IsSame(found->second, tensor);
                     });
}

// The newest version in `model_dir` if it is undamaged and has the bundle's
// weights, bit for bit, and its configuration but for the time; else nothing.
std::optional<std::int64_t> FindPublished(const std::string& model_dir,
                                          const ModelBundle& bundle) {
  // LoadModel checks the sums of all files, so a half-written version of a
  // killed run is none.
  const auto model = LoadModel(model_dir);
  if (!model.ok() ||
      WithoutTime((*model)->config()) != WithoutTime(bundle.config)) {
    return std::nullopt;
  }
  const std::int64_t version = (*model)->version().version;
  if (!HasWeights(VersionPath(model_dir, version) + "/" + kWeightsFile,
                  bundle)) {
    return std::nullopt;
  }
  return version;
}

// Paths stay private.
constexpr std::string_view kPathFlags[] = {
    "train",         "events",      "docs",          "judged",
    "position_bias", "valid_pairs", "valid_queries", "valid_docs",
    "valid_qrels",   "model_dir"};
// These may differ in a resumed run, which is published as the run that it
// continues.
constexpr std::string_view kNeutralFlags[] = {
    "threads",       "judge_days",       "keep_pairs",
    "max_bad_lines", "checkpoint_every", "checkpoint_batches",
    "force",         "publish",          "resume"};

// Options that decide a weight.
bool IsKept(std::string_view flag) {
  return std::ranges::find(kPathFlags, flag) == std::end(kPathFlags) &&
         std::ranges::find(kNeutralFlags, flag) == std::end(kNeutralFlags);
}

// In seconds. A build that is to be repeated byte for byte sets it
// (reproducible-builds.org).
std::int64_t CreateTime() {
  const char* const set = std::getenv("SOURCE_DATE_EPOCH");
  if (set == nullptr) return absl::ToUnixSeconds(absl::Now());
  std::int64_t seconds = 0;
  if (absl::SimpleAtoi(set, &seconds)) return seconds;
  absl::FPrintF(stderr,
                "SOURCE_DATE_EPOCH=%s is not a number of seconds; the "
                "model has today's time\n",
                set);
  return absl::ToUnixSeconds(absl::Now());
}

// What is known only at the end. DescribeModel has set the rest.
void AddFacts(const TrainOptions& options, const EpochRecord& best,
              int epochs_run, v1::TrainingFacts& facts) {
  for (const FlagValue& flag : OptionValues(options)) {
    if (!IsKept(flag.name)) continue;
    // Also those with their default value, which another release may change.
    facts.add_options(absl::StrFormat("--%s=%s", flag.name, flag.value));
  }
  facts.set_num_pairs(best.num_pairs);
  facts.set_epochs_run(epochs_run);
  facts.set_best_epoch(best.epoch);
  if (best.validation.loss) facts.set_validation_loss(*best.validation.loss);
  if (best.validation.metrics) {
    facts.set_validation_ndcg_at_10((*best.validation.metrics)[kNdcgAt10]);
  }
  facts.mutable_create_time()->set_seconds(CreateTime());
}

constexpr Named<RunOutcome> kOutcomeNames[] = {
    {"published", RunOutcome::kPublished},
    {"rejected", RunOutcome::kRejected},
    {"unchanged", RunOutcome::kUnchanged}};

// The rejected models of a model directory, as its versions 1, 2, .... Their
// numbers count all that there were; the newest kMaxRejected are kept.
constexpr char kRejectedFolder[] = "rejected";
constexpr std::size_t kMaxRejected = 3;

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

std::string FormatSummaryJson(const TrainingSummary& summary) {
  nlohmann::ordered_json json = {
      {"outcome", NameOf(summary.outcome, kOutcomeNames)}};
  if (!summary.reason.empty()) json["reason"] = summary.reason;
  if (summary.judgement) AddJudgement(*summary.judgement, json);
  json["version_dir"] = summary.version_dir;
  json["version"] = summary.version;
  json["epochs_run"] = summary.epochs_run;
  json["skipped_lines"] = summary.skipped_lines;
  json["best_epoch"] = EpochMeasures(summary.best);
  if (summary.before_training) {
    json["before_training"] = ValidationMeasures(*summary.before_training);
  }
  if (summary.comparison) AddComparison(*summary.comparison, json);
  // Names of folders need not be UTF-8, for which dump would throw.
  return json.dump(/*indent=*/-1, ' ', /*ensure_ascii=*/false,
                   nlohmann::json::error_handler_t::replace) +
         "\n";
}

std::string DescribeResult(const TrainingSummary& summary) {
  if (summary.outcome == RunOutcome::kUnchanged) {
    return absl::StrCat(summary.reason, ". ", summary.model_dir,
                        " is unchanged.\n");
  }
  if (summary.outcome == RunOutcome::kRejected) {
    return absl::StrFormat(
        "%s\nreport: %s/%s\nThe served model stays. --force would publish this "
        "one.\n",
        summary.reason, summary.version_dir, kReportFile);
  }
  std::string text;
  if (summary.comparison && summary.comparison->model) {
    text += DescribeComparison(*summary.comparison);
  }
  if (summary.best.num_pairs < kFewPairs) {
    absl::StrAppendFormat(
        &text,
        "Fewer than %s pairs teach little: expect about the ranking of letter "
        "TF-IDF until there are more. What helps is --docs=FILE, the titles to "
        "rank, and for English a start from the general model.\n",
        GroupDigits(kFewPairs));
  }
  absl::StrAppendFormat(&text,
                        "report: %s/%s\nnext: semrank-server --model_dir=%s\n",
                        summary.version_dir, kReportFile, summary.model_dir);
  return text;
}

absl::Status RefuseLoss(const TrainOptions& options, const std::string& loss,
                        TrainingState* state) {
  if (options.force) {
    absl::FPrintF(stderr, "%s; published because of --force\n", loss);
    return absl::OkStatus();
  }
  if (state != nullptr) {
    // A mark for Checkpoint::Remove: the next run that publishes may delete it.
    state->history().refused = true;
    state->WriteCheckpoint();
  }
  const bool saved = state != nullptr && state->HasCheckpoint();
  return absl::FailedPreconditionError(absl::StrFormat(
      "%s. Nothing is published. More pairs, or --lexical=0.9, which leaves "
      "the ranking to letters, may help; %s",
      loss,
      saved ? absl::StrFormat("the weights are in %s, and the same command "
                              "with --resume --force publishes them",
                              state->checkpoint_path())
            : "--force would publish it"));
}

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

absl::Status NotPublished(const absl::Status& error, TrainingState& state) {
  state.WriteCheckpoint();
  return absl::Status(error.code(),
                      absl::StrFormat("the model could not be published: %s%s",
                                      error.message(), state.ResumeAdvice()));
}

absl::StatusOr<TrainingSummary> PublishBest(const TrainOptions& options,
                                            v1::ModelConfig config,
                                            const TrainingData& data,
                                            TrainingState& state) {
  const int epochs_run = static_cast<int>(state.history().epochs.size());
  AddFacts(options, state.best(), epochs_run, *config.mutable_training());
  const std::string& model_dir = options.data.model_dir;
  const ModelBundle bundle = {
      .config = config,
      .featurizer = &data.featurizer,
      .tensors = AllTensors(state.best_weights().views(), config, data),
      .other_files = {{kKeptPairsFile, data.kept_pairs}}};
  std::optional<std::int64_t> version;
  // A run may have been killed after it had published and before it had removed
  // its checkpoint. A run that was not resumed publishes anew, also if its
  // weights are those of the newest version.
  if (state.resumed()) version = FindPublished(model_dir, bundle);
  if (!version) {
    const auto published = PublishModel(model_dir, bundle);
    // The disk may have room elsewhere, or again later.
    if (!published.ok()) return NotPublished(published.status(), state);
    version = *published;
  }
  return TrainingSummary{.version_dir = VersionPath(model_dir, *version),
                         .version = *version,
                         .best = state.best(),
                         .epochs_run = epochs_run,
                         .skipped_lines = data.statistics.bad_lines,
                         .model_dir = model_dir,
                         .before_training = state.history().before_training};
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
