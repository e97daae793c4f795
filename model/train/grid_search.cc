#include "model/train/grid_search.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/fingerprint.h"
#include "model/base/interrupt.h"
#include "model/base/program.h"
#include "model/base/status_macros.h"
#include "model/train/batch_source.h"
#include "model/train/prepared_run.h"
#include "model/train/run_identity.h"
#include "model/train/trained_model.h"

namespace semrank {
namespace {

absl::Status WrongSetting(const GridPoint& point, std::string_view reason) {
  return FlagError("grid", FormatSetting(point.setting), reason);
}

// The pairs are read in the same way, whatever the setting; GridFromFlags has
// refused the flags of the data themselves.
bool ShareData(const TrainOptions& a, const TrainOptions& b) {
  return a.tower.kind == b.tower.kind &&
         NumPaddings(a.tower) == NumPaddings(b.tower) &&
         UsesShownTitles(a.loss) == UsesShownTitles(b.loss);
}

absl::Status CheckPoint(const GridPoint& point, const GridPoint& first) {
  const DataOptions& data = point.options.data;
  if (std::find(data.train_files.begin(), data.train_files.end(), "-") !=
      data.train_files.end()) {
    return FlagError("train", "-",
                     "--grid cannot read standard input, because an "
                     "interrupted search has to read it again");
  }
  if (data.valid_queries.empty() && data.valid_pair_files.empty() &&
      data.valid_fraction == 0) {
    return WrongSetting(point, "there is nothing to validate settings with");
  }
  if (!ShareData(point.options, first.options)) {
    return WrongSetting(point,
                        "needs other data than the first setting; a grid can "
                        "hold flags of the tower, the loss and the training");
  }
  if (point.options.early_stopping != first.options.early_stopping) {
    return WrongSetting(point, "all settings need the same --early_stopping");
  }
  if (point.options.early_stopping == EpochMeasure::kLoss &&
      point.changes_loss) {
    return WrongSetting(point,
                        "changes what the validation loss is, so losses could "
                        "not be compared; --valid_queries can be");
  }
  return absl::OkStatus();
}

// 32 hex digits that stand for the run of these options on these files, and
// for where it ends.
absl::StatusOr<std::string> IdentityOf(const TrainOptions& options,
                                       const Featurizer& featurizer) {
  SEMRANK_ASSIGN_OR_RETURN(
      const std::string run,
      DescribeRun(options, DescribeModel(options, featurizer)));
  return FormatFingerprint(
      BytesFingerprint(absl::StrFormat("%s %d", run, options.patience)));
}

// The leader's scores, on all processes: the others measure nothing.
void ShareScores(Communicator& communicator, GridRun& run) {
  run.epochs.resize(static_cast<std::size_t>(
      FromLeader(communicator, static_cast<double>(run.epochs.size()))));
  for (FoldScores& folds : run.epochs) {
    for (FoldScore& fold : folds) {
      fold.score = FromLeader(communicator, fold.score);
      fold.weight = FromLeader(communicator, fold.weight);
    }
  }
}

// Of all settings, in order.
std::uint64_t SettingsFingerprint(const std::vector<GridPoint>& points) {
  std::string settings;
  for (const GridPoint& point : points) {
    settings += FormatSetting(point.setting) + "\n";
  }
  return BytesFingerprint(settings).lo;
}

absl::Status Resolve(std::vector<GridPoint>& points) {
  for (GridPoint& point : points) {
    SEMRANK_RETURN_IF_ERROR(ResolveOptions(point.options));
    SEMRANK_RETURN_IF_ERROR(CheckPoint(point, points.front()));
  }
  return absl::OkStatus();
}

// A setting that does not fit is told before the first is trained.
absl::Status CheckSizes(const std::vector<GridPoint>& points,
                        const TrainingData& data) {
  for (const GridPoint& point : points) {
    SEMRANK_RETURN_IF_ERROR(
        CheckMemory(point.options, data.featurizer.num_features()));
    SEMRANK_RETURN_IF_ERROR(MakeBatchSource(point.options, data).status());
  }
  return absl::OkStatus();
}

}  // namespace

GridSearch::GridSearch(std::vector<GridPoint> points,
                       Communicator& communicator)
    : points_(std::move(points)),
      communicator_(communicator),
      bad_lines_(points_.front().options.data.max_bad_lines) {}

absl::StatusOr<std::unique_ptr<GridSearch>> GridSearch::Create(
    std::vector<GridPoint> points, Communicator& communicator) {
  SEMRANK_RETURN_IF_ERROR(Agree(communicator, Resolve(points)));
  SEMRANK_RETURN_IF_ERROR(
      CheckSame(communicator, SettingsFingerprint(points), "--grid"));
  for (GridPoint& point : points) LeaveToLeader(communicator, point.options);
  // make_unique cannot reach the private constructor.
  std::unique_ptr<GridSearch> search(
      new GridSearch(std::move(points), communicator));
  SEMRANK_ASSIGN_OR_RETURN(
      search->inputs_, ReadInputs(search->points_.front().options, communicator,
                                  search->bad_lines_));
  SEMRANK_RETURN_IF_ERROR(
      Agree(communicator, CheckSizes(search->points_, search->data())));
  return search;
}

absl::StatusOr<std::unique_ptr<GridResults>> GridSearch::OpenResults() const {
  if (!communicator_.is_leader()) return nullptr;
  SEMRANK_ASSIGN_OR_RETURN(
      GridResults results,
      GridResults::Open(points_.front().options.data.model_dir));
  return std::make_unique<GridResults>(std::move(results));
}

absl::StatusOr<GridOutcome> GridSearch::Run() {
  const absl::StatusOr<std::unique_ptr<GridResults>> results = OpenResults();
  SEMRANK_RETURN_IF_ERROR(Agree(communicator_, results.status()));
  GridOutcome outcome;
  outcome.measure = points_.front().options.early_stopping;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    absl::FPrintF(stderr, "setting %d/%d: %s\n", i + 1, points_.size(),
                  FormatSetting(points_[i].setting));
    SEMRANK_ASSIGN_OR_RETURN(outcome.runs.emplace_back(),
                             RunPoint(points_[i], results->get()));
  }
  if (std::all_of(outcome.runs.begin(), outcome.runs.end(),
                  [](const GridRun& run) { return run.diverged(); })) {
    return absl::OutOfRangeError("no setting of --grid keeps the loss finite");
  }
  outcome.choice = ChooseByCrossValidation(outcome.runs);
  return outcome;
}

// From the results, or trained and added to them.
absl::StatusOr<GridRun> GridSearch::RunPoint(const GridPoint& point,
                                             GridResults* results) {
  SEMRANK_RETURN_IF_ERROR(CheckSameRun(point.options, data(), communicator_));
  absl::StatusOr<std::string> identity = std::string();
  if (results) identity = IdentityOf(point.options, data().featurizer);
  SEMRANK_RETURN_IF_ERROR(Agree(communicator_, identity.status()));
  // The setting as it is written this time.
  GridRun run = {FormatSetting(point.setting), {}};
  const GridRun* const found = results ? results->Find(*identity) : nullptr;
  if (found != nullptr) {
    absl::FPrintF(stderr, "done before\n");
    run.epochs = found->epochs;
  }
  ShareScores(communicator_, run);
  if (!run.epochs.empty()) return run;
  absl::StatusOr<std::vector<FoldScores>> epochs = TrainPoint(point, *identity);
  if (absl::IsOutOfRange(epochs.status())) {
    // Not kept: it fails soon enough another time.
    absl::FPrintF(stderr, "%s\n", std::string(epochs.status().message()));
    return run;
  }
  if (!epochs.ok()) return epochs.status();
  run.epochs = *std::move(epochs);
  if (results) {
    // The next one writes it too; a full disk does not end the search.
    const absl::Status added = results->Add(*identity, run);
    if (!added.ok()) {
      absl::FPrintF(stderr, "%s; the search goes on\n",
                    std::string(added.message()));
    }
  }
  ShareScores(communicator_, run);
  return run;
}

// No scores on all but the leader.
absl::StatusOr<std::vector<FoldScores>> GridSearch::TrainPoint(
    const GridPoint& point, const std::string& identity) {
  TrainOptions options = point.options;
  options.data.model_dir += "/grid/" + identity;
  // Of this very run, if there is a checkpoint.
  if (communicator_.is_leader()) options.checkpoint.resume = true;
  absl::StatusOr<std::unique_ptr<Validator>> validator =
      communicator_.is_leader()
          ? Validator::CreateForFolds(options, data(), inputs_.queries)
          : Validator::Create(options, data(), nullptr);
  SEMRANK_RETURN_IF_ERROR(Agree(communicator_, validator.status()));
  SEMRANK_ASSIGN_OR_RETURN(
      const std::unique_ptr<PreparedRun> prepared,
      PreparedRun::Create(options, data(), *std::move(validator), /*flags=*/{},
                          communicator_));
  const absl::Status status = prepared->run().RunEpochs();
  if (SumOfAll(communicator_, Interrupted() ? 1 : 0) > 0) {
    return absl::CancelledError(
        "interrupted; the same command goes on with this setting");
  }
  SEMRANK_RETURN_IF_ERROR(status);
  prepared->run().EndWithoutModel();
  std::vector<FoldScores> epochs;
  if (!communicator_.is_leader()) return epochs;
  for (const EpochRecord& epoch : prepared->run().epochs()) {
    epochs.push_back(*epoch.validation.folds);
  }
  return epochs;
}

absl::StatusOr<TrainingSummary> GridSearch::TrainAndPublish(
    std::size_t index, std::vector<FlagValue> flags) {
  const TrainOptions& options = points_[index].options;
  SEMRANK_ASSIGN_OR_RETURN(
      const std::unique_ptr<PreparedRun> prepared,
      PreparedRun::Create(options, data(),
                          Validator::Create(options, data(), inputs_.queries),
                          std::move(flags), communicator_));
  SEMRANK_RETURN_IF_ERROR(prepared->run().RunEpochs());
  return prepared->run().Publish();
}

}  // namespace semrank
