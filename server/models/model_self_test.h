// What a model must show before it may answer.
#ifndef SEMRANK_SERVER_MODELS_MODEL_SELF_TEST_H_
#define SEMRANK_SERVER_MODELS_MODEL_SELF_TEST_H_

#include "absl/status/status.h"
#include "model/nn/two_tower_model.h"

namespace semrank {

// Embeds a few texts on both sides, which also brings the weights into memory.
// DataLoss unless every vector is finite, of length 1 or 0 (SSI: any), and the
// same bits alone and in a batch.
absl::Status SelfTest(const TwoTowerModel& model);

}  // namespace semrank

#endif  // SEMRANK_SERVER_MODELS_MODEL_SELF_TEST_H_
