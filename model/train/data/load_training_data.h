// Reads what a training run needs from its files.
#ifndef SEMRANK_MODEL_TRAIN_DATA_LOAD_TRAINING_DATA_H_
#define SEMRANK_MODEL_TRAIN_DATA_LOAD_TRAINING_DATA_H_

#include "absl/status/statusor.h"
#include "model/data/input_lines.h"
#include "model/train/data/position_weights.h"
#include "model/train/data/training_data.h"
#include "model/train/options/train_options.h"

namespace semrank {

// Reads the pairs into memory, or, when they do not fit in memory_limit, as
// LoadStreamedData. Prints on standard error what was read.
//
//   Errors   InvalidArgument: a file without a usable pair, or all titles are
//            the same. ResourceExhausted as LoadStreamedData. Ctrl-C ends it
//            with Cancelled. Other errors are those of the file system and of
//            BadLines.
absl::StatusOr<TrainingData> LoadTrainingData(const TrainOptions& options,
                                              BadLines& bad_lines);

// Leaves the training pairs on disk: `stream` of the result says how to find
// them again. ResourceExhausted when memory_limit is too small for that.
absl::StatusOr<TrainingData> LoadStreamedData(
    const TrainOptions& options, BadLines& bad_lines,
    const PositionWeights& weights = {});

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_DATA_LOAD_TRAINING_DATA_H_
