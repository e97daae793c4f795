#include "model/train/grid_search.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/fingerprint.h"
#include "model/base/interrupt.h"
#include "model/base/program.h"
#include "model/base/status_macros.h"
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

}  // namespace

GridSearch::GridSearch(std::vector<GridPoint> points)
    : points_(std::move(points)),
      bad_lines_(points_.front().options.data.max_bad_lines) {}

absl::StatusOr<std::unique_ptr<GridSearch>> GridSearch::Create(
    std::vector<GridPoint> points) {
  for (GridPoint& point : points) {
    SEMRANK_RETURN_IF_ERROR(ResolveOptions(point.options));
    SEMRANK_RETURN_IF_ERROR(CheckPoint(point, points.front()));
  }
  // make_unique cannot reach the private constructor.
  std::unique_ptr<GridSearch> search(new GridSearch(std::move(points)));
  SEMRANK_RETURN_IF_ERROR(search->ReadData());
  return search;
}

absl::Status GridSearch::ReadData() {
  const TrainOptions& options = points_.front().options;
  // Tells of a folder that cannot be written to before anything is read.
  SEMRANK_RETURN_IF_ERROR(CheckWritable(options.data.model_dir));
  SEMRANK_ASSIGN_OR_RETURN(TrainingData data,
                           LoadTrainingData(options, bad_lines_));
  data_.emplace(std::move(data));
  SEMRANK_ASSIGN_OR_RETURN(queries_,
                           Validator::ReadQueries(options.data, bad_lines_));
  return absl::OkStatus();
}

absl::StatusOr<GridOutcome> GridSearch::Run() {
  SEMRANK_ASSIGN_OR_RETURN(
      GridResults results,
      GridResults::Open(points_.front().options.data.model_dir));
  GridOutcome outcome;
  outcome.measure = points_.front().options.early_stopping;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    absl::FPrintF(stderr, "setting %d/%d: %s\n", i + 1, points_.size(),
                  FormatSetting(points_[i].setting));
    SEMRANK_ASSIGN_OR_RETURN(outcome.runs.emplace_back(),
                             RunPoint(points_[i], results));
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
                                             GridResults& results) {
  SEMRANK_ASSIGN_OR_RETURN(const std::string identity,
                           IdentityOf(point.options, data_->featurizer));
  if (const GridRun* found = results.Find(identity); found != nullptr) {
    absl::FPrintF(stderr, "done before\n");
    // The setting as it is written this time.
    return GridRun{FormatSetting(point.setting), found->epochs};
  }
  absl::StatusOr<GridRun> run = TrainPoint(point, identity);
  if (absl::IsOutOfRange(run.status())) {
    // Not kept: it fails soon enough another time.
    absl::FPrintF(stderr, "%s\n", std::string(run.status().message()));
    return GridRun{FormatSetting(point.setting), {}};
  }
  if (run.ok()) SEMRANK_RETURN_IF_ERROR(results.Add(identity, *run));
  return run;
}

absl::StatusOr<GridRun> GridSearch::TrainPoint(const GridPoint& point,
                                               const std::string& identity) {
  TrainOptions options = point.options;
  options.data.model_dir += "/grid/" + identity;
  // Of this very run, if there is a checkpoint.
  options.checkpoint.resume = true;
  SEMRANK_ASSIGN_OR_RETURN(
      auto validator, Validator::CreateForFolds(options, *data_, queries_));
  SEMRANK_ASSIGN_OR_RETURN(
      const std::unique_ptr<PreparedRun> prepared,
      PreparedRun::Create(options, *data_, std::move(validator), /*flags=*/{}));
  const absl::Status status = prepared->run().RunEpochs();
  if (Interrupted()) {
    return absl::CancelledError(
        "interrupted; the same command goes on with this setting");
  }
  SEMRANK_RETURN_IF_ERROR(status);
  SEMRANK_RETURN_IF_ERROR(prepared->run().EndWithoutModel());
  GridRun run = {FormatSetting(point.setting), {}};
  for (const EpochRecord& epoch : prepared->run().epochs()) {
    run.epochs.push_back(*epoch.validation.folds);
  }
  return run;
}

absl::StatusOr<TrainingSummary> GridSearch::TrainAndPublish(
    std::size_t index, std::vector<FlagValue> flags) {
  const TrainOptions& options = points_[index].options;
  SEMRANK_ASSIGN_OR_RETURN(
      const std::unique_ptr<PreparedRun> prepared,
      PreparedRun::Create(options, *data_,
                          Validator::Create(options, *data_, queries_),
                          std::move(flags)));
  SEMRANK_RETURN_IF_ERROR(prepared->run().RunEpochs());
  return prepared->run().Publish();
}

}  // namespace semrank
