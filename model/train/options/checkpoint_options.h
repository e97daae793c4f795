// When a run is saved, and whether it continues from there.
#ifndef SEMRANK_MODEL_TRAIN_OPTIONS_CHECKPOINT_OPTIONS_H_
#define SEMRANK_MODEL_TRAIN_OPTIONS_CHECKPOINT_OPTIONS_H_

#include <cstdint>

#include "absl/time/time.h"

namespace semrank {

class CommandLine;

struct CheckpointOptions {
  // Time between two; 0 = none by time.
  absl::Duration every = absl::Minutes(10);
  // Mini-batches between two; 0 = none by number.
  std::int64_t batches = 0;
  // Continue from the checkpoint, if there is one.
  bool resume = false;

  bool enabled() const {
    return resume || batches > 0 || every > absl::ZeroDuration();
  }
};

void AddCheckpointOptions(CommandLine& command_line,
                          CheckpointOptions& options);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_OPTIONS_CHECKPOINT_OPTIONS_H_
