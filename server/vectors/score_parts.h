// Which parts of a model's vectors a request may ask for.
#ifndef SEMRANK_SERVER_VECTORS_SCORE_PARTS_H_
#define SEMRANK_SERVER_VECTORS_SCORE_PARTS_H_

#include "absl/status/status.h"
#include "model/nn/lexical_part.h"
#include "model/nn/two_tower_model.h"

namespace semrank {

// InvalidArgument: the lexical part of a model without one, or the semantic
// part of an SSI model, whose parts are no cosines.
absl::Status CheckParts(const TwoTowerModel& model, Parts parts);

}  // namespace semrank

#endif  // SEMRANK_SERVER_VECTORS_SCORE_PARTS_H_
