#include "model/train/options/checkpoint_options.h"

#include "model/cli/command_line.h"

namespace semrank {

void AddCheckpointOptions(CommandLine& command_line,
                          CheckpointOptions& options) {
  command_line.Group("Checkpoints");
  command_line.Add("resume", &options.resume,
                   "Continues a killed or interrupted run of the same flags "
                   "and files from its last checkpoint; the model is the same, "
                   "bit for bit. Without a checkpoint the run starts over. "
                   "--threads and the checkpoint flags may differ.");
  command_line.Group("Checkpoints", CommandLine::Level::kAdvanced);
  command_line.Add("checkpoint_every", &options.every,
                   "Time between two checkpoints: checkpoint.safetensors in "
                   "--model_dir, which --resume continues. 0 = none by time.");
  command_line.Add("checkpoint_batches", &options.batches,
                   "Mini-batches between two checkpoints. 0 = none by number.",
                   {.min = 0, .max = std::int64_t{1} << 40});
}

}  // namespace semrank
