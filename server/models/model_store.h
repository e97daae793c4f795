// The models that answer: one slot for each name. A new version is loaded and
// tested beside the old one and then replaces it by one pointer swap; requests
// keep the version with which they began alive.
//
//   Threads  thread-safe. Refresh and Reload take as long as the load of a
//            model, so no thread that answers calls may call them.
//   Errors   a failed load changes only a metric and the result of List.
#ifndef SEMRANK_SERVER_MODELS_MODEL_STORE_H_
#define SEMRANK_SERVER_MODELS_MODEL_STORE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "model/base/mutex.h"
#include "server/base/metrics.h"
#include "server/models/model_slot.h"
#include "server/models/model_source.h"
#include "server/models/quality_metrics.h"
#include "server/models/served_model.h"

namespace semrank {

// One model that the store is to serve.
struct ModelChoice {
  ModelSource source = {};
  std::int64_t pinned_version = 0;        // 0 = the highest, also new ones
  std::vector<std::string> aliases = {};  // other names in requests
};

// The errors of requests for a model: InvalidArgument for a negative version,
// which names it, and Unavailable before the first model is published.
absl::Status CheckModelVersion(std::int64_t version);
absl::Status NoModelYet();

class ModelStore {
 public:
  struct Reloaded {
    ModelStatus model = {};
    std::int64_t previous_version = 0;  // 0 = none was current
    bool changed = false;
  };

  // Callbacks, each of which may be empty. The loading thread calls them.
  struct Hooks {
    // The store calls it after every attempt to load a version.
    std::function<void(const ModelLoad&)> loaded = {};
    // The store calls it after a publication, with the numbers of all current
    // models: no new request asks for what is cached for other models.
    std::function<void(std::span<const std::uint32_t>)> published = {};
  };

  // At least one choice, with different names and aliases; the first is the
  // default. `metrics` and what the hooks use must outlive the store.
  ModelStore(std::vector<ModelChoice> choices, Metrics* metrics, Hooks hooks);
  ModelStore(std::vector<ModelChoice> choices, Metrics* metrics)
      : ModelStore(std::move(choices), metrics, Hooks()) {}
  ModelStore(const ModelStore&) = delete;
  ModelStore& operator=(const ModelStore&) = delete;

  // Looks for new versions of every model and loads them. OK when every model
  // has a version to answer with; otherwise the first error of a model that has
  // none. It calls `cancelled`, which may be null, before each model; true
  // ends it with a Cancelled error.
  absl::Status Refresh(const std::function<bool()>& cancelled = nullptr);

  // Name, version and errors are those of ModelService.ReloadModel.
  absl::StatusOr<Reloaded> Reload(std::string_view name, std::int64_t version);

  // The default model; null while none has been published.
  ServedModelPtr current() const { return slots_.front()->current(); }
  // The current model of each name that has one.
  std::vector<ServedModelPtr> CurrentModels() const;

  // The name of the model that has this alias; any other text as it is.
  std::string_view NameOf(std::string_view name) const;

  // The model for a request. `name` may be an alias; empty = the default,
  // `version` 0 = the current one. InvalidArgument for a negative version,
  // NotFound for another name or version, Unavailable while nothing is
  // published.
  absl::StatusOr<ServedModelPtr> Find(std::string_view name,
                                      std::int64_t version) const;

  // The state of that version; reads the disk for one that was never tried.
  // Errors are those of Find.
  absl::StatusOr<ModelStatus> Describe(std::string_view name,
                                       std::int64_t version) const;
  // Versions of all models that were tried since the start. Does not read the
  // disk.
  std::vector<ModelStatus> ListTried() const;
  // Versions in the order of names, newest first. An empty `name` means all
  // models; NotFound for an unknown one. Reads the disk.
  absl::StatusOr<std::vector<ModelStatus>> List(std::string_view name) const;

 private:
  absl::StatusOr<ModelSlot*> FindSlot(std::string_view name) const;
  // `list` of `slot`, with the current version of the default model marked.
  std::vector<ModelStatus> WithDefault(const ModelSlot& slot,
                                       std::vector<ModelStatus> list) const;
  std::uint32_t NumberOf(const std::string& identity);
  void FinishLoad(const ModelLoad& load);

  Metrics* const metrics_;
  QualityMetrics quality_;
  const Hooks hooks_;
  // Const once constructed.
  std::vector<std::unique_ptr<ModelSlot>> slots_;
  std::map<std::string, ModelSlot*, std::less<>> aliases_;
  Mutex numbers_mutex_;
  std::vector<std::string> identities_ ABSL_GUARDED_BY(numbers_mutex_);
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_MODELS_MODEL_STORE_H_
