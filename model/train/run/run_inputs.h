// What a training run reads before its first step, in each of its processes.
#ifndef SEMRANK_MODEL_TRAIN_RUN_RUN_INPUTS_H_
#define SEMRANK_MODEL_TRAIN_RUN_RUN_INPUTS_H_

#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/base/bad_lines.h"
#include "model/eval/collection.h"
#include "model/train/data/training_data.h"
#include "model/train/distributed/communicator.h"
#include "model/train/options/train_options.h"
#include "model/train/run/run_lock.h"

namespace semrank {

struct RunInputs {
  // Of the leader. First, to be let go last.
  std::unique_ptr<RunLock> lock;
  std::optional<TrainingData> data;
  std::shared_ptr<const Collection> queries;  // as Validator::ReadQueries
};

// Takes from resolved options what only the leader does: it validates and
// writes checkpoints.
void LeaveToLeader(const Communicator& communicator, TrainOptions& options);

// All processes fail together, here and below. The leader tells first of a
// model_dir that cannot be written to, or that another run writes to.
absl::StatusOr<RunInputs> ReadInputs(const TrainOptions& options,
                                     Communicator& communicator,
                                     BadLines& bad_lines);

// Internal unless all processes have the same settings and training files: they
// would wait for each other in different places.
absl::Status CheckSameRun(TrainOptions options, const TrainingData& data,
                          Communicator& communicator);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_RUN_RUN_INPUTS_H_
