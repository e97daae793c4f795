#include "model/train/train_options.h"

#include "model/base/status_macros.h"
#include "model/train/option_checks.h"

namespace semrank {

absl::Status ResolveOptions(TrainOptions& options) {
  SEMRANK_RETURN_IF_ERROR(Resolve(options.data));
  SEMRANK_RETURN_IF_ERROR(Resolve(options.features));
  SEMRANK_RETURN_IF_ERROR(Resolve(options.tower));
  SEMRANK_RETURN_IF_ERROR(Resolve(options.loss));
  SEMRANK_RETURN_IF_ERROR(Resolve(options.optimizer));
  // One pair alone has nothing to be told apart from.
  SEMRANK_RETURN_IF_ERROR(
      CheckRange("batch_size", options.batch_size, 2, kMaxBatchSize));
  SEMRANK_RETURN_IF_ERROR(CheckRange("epochs", options.epochs, 1, 1'000'000));
  SEMRANK_RETURN_IF_ERROR(
      CheckRange("patience", options.patience, 0, 1'000'000));
  return CheckRange("threads", options.threads, 0, 1024);
}

}  // namespace semrank
