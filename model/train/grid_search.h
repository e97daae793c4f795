// A search for the best of several settings of a training run by 2-fold
// cross-validation, as the papers do it, and the training of that one.
//
//   Data     read once; all settings share them.
//   Measure  one training run a setting, measured on both halves of the
//            validation queries after each epoch.
//   Files    in model_dir: grid.jsonl, the finished settings; grid/<run>/ with
//            training.jsonl and report.html of each.
//   Stop     Ctrl-C: Cancelled; the same search goes on where it was.
//   Share    several processes make the same search and train each setting
//            together; the leader measures, and keeps the files.
//   Threads  one thread calls.
#ifndef SEMRANK_MODEL_TRAIN_GRID_SEARCH_H_
#define SEMRANK_MODEL_TRAIN_GRID_SEARCH_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/base/bad_lines.h"
#include "model/train/communicator.h"
#include "model/train/grid_choice.h"
#include "model/train/grid_results.h"
#include "model/train/grid_spec.h"
#include "model/train/run_inputs.h"
#include "model/train/train_options.h"
#include "model/train/trainer.h"
#include "model/train/training_data.h"

namespace semrank {

struct GridPoint {
  GridSetting setting;
  TrainOptions options;
  // Losses of this setting are those of another function.
  bool changes_loss = false;
};

class GridSearch {
 public:
  // Reads the data. `points` are not empty and not resolved. FlagError when an
  // option is wrong, when the settings would need other data, or when their
  // losses could not be compared; otherwise fails as Train.
  // `communicator` outlives the search; all processes fail together, here and
  // below.
  static absl::StatusOr<std::unique_ptr<GridSearch>> Create(
      std::vector<GridPoint> points, Communicator& communicator = OneProcess());

  // Trains what is not in grid.jsonl yet. Fails as Train.
  absl::StatusOr<GridOutcome> Run();

  // Trains point `index` as Train does, and publishes it.
  absl::StatusOr<TrainingSummary> TrainAndPublish(std::size_t index,
                                                  std::vector<FlagValue> flags);

 private:
  GridSearch(std::vector<GridPoint> points, Communicator& communicator);

  // Null on all but the leader.
  absl::StatusOr<std::unique_ptr<GridResults>> OpenResults() const;
  absl::StatusOr<GridRun> RunPoint(const GridPoint& point,
                                   GridResults* results);
  absl::StatusOr<std::vector<FoldScores>> TrainPoint(
      const GridPoint& point, const std::string& identity);

  const TrainingData& data() const { return *inputs_.data; }

  std::vector<GridPoint> points_;
  Communicator& communicator_;
  BadLines bad_lines_;
  RunInputs inputs_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_GRID_SEARCH_H_
