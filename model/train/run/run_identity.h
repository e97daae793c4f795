// The identity of a training run: everything that decides a bit of its weights.
// A checkpoint is valid only for the run with the same identity.
#ifndef SEMRANK_MODEL_TRAIN_RUN_RUN_IDENTITY_H_
#define SEMRANK_MODEL_TRAIN_RUN_RUN_IDENTITY_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/train/distributed/communicator.h"
#include "model/train/options/train_options.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {

// A JSON object: the configuration, the options that it does not hold, and
// the fingerprint of each file of pairs. `options` are resolved. Errors as
// FileFingerprint's.
absl::StatusOr<std::string> DescribeRun(const TrainOptions& options,
                                        const v1::ModelConfig& config);

// Internal unless all processes have the same identity, validation aside, which
// is rank 0's: they would wait for each other in different places.
absl::Status CheckSameRun(TrainOptions options, const v1::ModelConfig& config,
                          Communicator& communicator);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_RUN_RUN_IDENTITY_H_
