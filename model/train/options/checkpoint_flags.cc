#include <cstdint>

#include "absl/flags/flag.h"
#include "absl/time/time.h"
#include "model/train/options/flag_groups.h"

namespace {

// Defaults are those of the options struct, which has no other home for them.
semrank::CheckpointOptions Defaults() { return {}; }

}  // namespace

ABSL_FLAG(absl::Duration, checkpoint_every, Defaults().every,
          "Time between two checkpoints: checkpoint.safetensors in "
          "--model_dir, from which --resume goes on. 0 = none by time.");
ABSL_FLAG(std::int64_t, checkpoint_batches, Defaults().batches,
          "Mini-batches between two checkpoints. 0 = none by number.");
ABSL_FLAG(bool, resume, Defaults().resume,
          "Goes on where a killed or interrupted run of the same flags and "
          "files wrote its last checkpoint, to the same model, bit for bit. "
          "Without a checkpoint the run begins anew. --threads and the "
          "checkpoint flags may differ.");

namespace semrank {

absl::Status ReadFlags(CheckpointOptions& options) {
  options.every = absl::GetFlag(FLAGS_checkpoint_every);
  options.batches = absl::GetFlag(FLAGS_checkpoint_batches);
  options.resume = absl::GetFlag(FLAGS_resume);
  return absl::OkStatus();
}

}  // namespace semrank
