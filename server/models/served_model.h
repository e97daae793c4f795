// A model in service.
#ifndef SEMRANK_SERVER_MODELS_SERVED_MODEL_H_
#define SEMRANK_SERVER_MODELS_SERVED_MODEL_H_

#include <cstdint>
#include <memory>

#include "absl/time/time.h"
#include "model/nn/two_tower_model.h"

namespace semrank {

// Const once published; requests keep the one they began with alive.
struct ServedModel {
  std::shared_ptr<const TwoTowerModel> model = {};
  // Stands for the model's identity in this process: equal for equal
  // identities, never given to another. Vector caches key on it.
  std::uint32_t number = 0;
  absl::Time load_time = {};
};
using ServedModelPtr = std::shared_ptr<const ServedModel>;

}  // namespace semrank

#endif  // SEMRANK_SERVER_MODELS_SERVED_MODEL_H_
