#include "model/train/options/checkpoint_options.h"

#include "absl/strings/str_format.h"
#include "model/cli/program.h"
#include "model/train/options/option_checks.h"

namespace semrank {

absl::Status Resolve(CheckpointOptions& options) {
  if (options.every < absl::ZeroDuration()) {
    return FlagError("checkpoint_every", absl::FormatDuration(options.every),
                     "must not be negative");
  }
  return CheckRange("checkpoint_batches", options.batches, 0,
                    std::int64_t{1} << 40);
}

}  // namespace semrank
