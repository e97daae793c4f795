// A training run of options that are not resolved.
#ifndef SEMRANK_TESTS_MODEL_TRAIN_TRAIN_MODEL_H_
#define SEMRANK_TESTS_MODEL_TRAIN_TRAIN_MODEL_H_

#include "absl/status/statusor.h"
#include "model/base/status_macros.h"
#include "model/train/options/resolve_options.h"
#include "model/train/run/train.h"

namespace semrank {

inline absl::StatusOr<TrainingSummary> TrainModel(TrainOptions options) {
  SEMRANK_RETURN_IF_ERROR(ResolveOptions(options));
  return Train(options);
}

}  // namespace semrank

#endif  // SEMRANK_TESTS_MODEL_TRAIN_TRAIN_MODEL_H_
