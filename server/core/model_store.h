// The model that answers now. A new one is loaded and tested beside it and
// then takes its place by one pointer swap; requests keep the one they began
// with alive.
//
//   Threads  current() and Find from any thread; Load from one at a time.
//   Errors   a failed Load changes nothing but a metric.
#ifndef SEMRANK_SERVER_CORE_MODEL_STORE_H_
#define SEMRANK_SERVER_CORE_MODEL_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "model/base/mutex.h"
#include "model/nn/two_tower_model.h"
#include "server/core/metrics.h"

namespace semrank {

// A model in service. Const once published.
struct ServedModel {
  std::shared_ptr<const TwoTowerModel> model = {};
  // Stands for the model's identity in this process: equal for equal
  // identities, never given to another. Vector caches key on it.
  std::uint32_t number = 0;
  absl::Time load_time = {};
  // Asked for by number; newer versions wait.
  bool pinned = false;
};
using ServedModelPtr = std::shared_ptr<const ServedModel>;

// Embeds a few texts on both sides. DataLoss unless every vector is finite, of
// length 1 or 0, and the same bits alone and in a batch.
absl::Status SelfTest(const TwoTowerModel& model);

class ModelStore {
 public:
  // Reads a version from where models are kept; 0 = the highest complete one.
  using Loader =
      std::function<absl::StatusOr<std::shared_ptr<const TwoTowerModel>>(
          std::int64_t version)>;

  // `metrics` must outlive the store.
  ModelStore(Loader loader, Metrics* metrics);
  ModelStore(const ModelStore&) = delete;
  ModelStore& operator=(const ModelStore&) = delete;

  // Loads, tests and publishes a version. The loader's error, or DataLoss from
  // the self-test.
  absl::Status Load(std::int64_t version);

  // Null while no model has been published.
  ServedModelPtr current() const;

  // The model for a request. `name` empty = the default, `version` 0 = the
  // current one. InvalidArgument for a negative version, NotFound for another
  // name or version, Unavailable while nothing is published.
  absl::StatusOr<ServedModelPtr> Find(std::string_view name,
                                      std::int64_t version) const;

 private:
  std::uint32_t NumberOf(const std::string& identity)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Loader loader_;
  Metrics* const metrics_;
  mutable Mutex mutex_;
  ServedModelPtr current_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> identities_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_CORE_MODEL_STORE_H_
