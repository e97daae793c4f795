// What makes two training runs the same: everything that decides a bit of the
// weights. A checkpoint is only good for the same run.
#ifndef SEMRANK_MODEL_TRAIN_RUN_RUN_IDENTITY_H_
#define SEMRANK_MODEL_TRAIN_RUN_RUN_IDENTITY_H_

#include <string>

#include "absl/status/statusor.h"
#include "model/train/options/train_options.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {

// A JSON object: the configuration, the options that it does not hold, and
// the fingerprint of each file of pairs. `options` are resolved. Errors as
// FileFingerprint's.
absl::StatusOr<std::string> DescribeRun(const TrainOptions& options,
                                        const v1::ModelConfig& config);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_RUN_RUN_IDENTITY_H_
