// A loaded model and its number in this process.
#ifndef SEMRANK_SERVER_MODELS_SERVED_MODEL_H_
#define SEMRANK_SERVER_MODELS_SERVED_MODEL_H_

#include <cstdint>
#include <memory>

#include "absl/time/time.h"
#include "model/nn/two_tower_model.h"
#include "server/models/quality_metrics.h"

namespace semrank {

// Const once published. A request keeps the model with which it began alive.
struct ServedModel {
  std::shared_ptr<const TwoTowerModel> model = {};
  // Replaces the identity of the model in keys of vector caches: models have
  // the same number if and only if they have the same identity.
  std::uint32_t number = 0;
  absl::Time load_time = {};
  // Null for a model that nothing counts.
  std::shared_ptr<const ModelQuality> quality = {};
};
using ServedModelPtr = std::shared_ptr<const ServedModel>;

}  // namespace semrank

#endif  // SEMRANK_SERVER_MODELS_SERVED_MODEL_H_
