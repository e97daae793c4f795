// One named model: which version answers now, what became of the others, and
// how one takes the place of another.
//
//   Choice   the highest version that can be loaded, unless one is pinned. A
//            version that is deleted from disk is still served.
//   Refused  a version that failed is not tried again until its files have
//            changed and then stayed the same for one more look: a folder that
//            is being copied costs one failure, not one a look.
//   Memory   two versions while one replaces the other; the old one goes with
//            the last request that holds it.
//   Threads  every method, from any thread. Refresh and SwitchTo wait for each
//            other; the rest never waits for a load.
#ifndef SEMRANK_SERVER_MODELS_MODEL_SLOT_H_
#define SEMRANK_SERVER_MODELS_MODEL_SLOT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "model/base/mutex.h"
#include "server/models/model_source.h"
#include "server/models/served_model.h"

namespace semrank {

// With the numbers of the API.
enum class ModelState {
  kFound = 1,
  kLoading,
  kServing,
  kRetiring,
  kRetired,
  kFailed
};

// One version, as operators see it.
struct ModelStatus {
  std::string name = {};
  std::int64_t version = 0;
  ModelState state = ModelState::kFound;
  ServedModelPtr model = {};                    // while it is in memory
  absl::Time load_time = absl::InfinitePast();  // = never
  absl::Status failure = {};                    // of the last try to load it
  bool current = false;
  bool pinned = false;
  bool is_default = false;
};

// What a model must pass before it may answer: embeds a few texts on both
// sides, which also brings the weights into memory. DataLoss unless every
// vector is finite, has length 1 or 0 (SSI: any length), and is the same bits
// alone and in a batch.
absl::Status SelfTest(const TwoTowerModel& model);

class ModelSlot {
 public:
  // Called in the loading thread. `number` gives a loaded model its number;
  // `loaded` hears of every attempt, after the new model has been published in
  // place of `previous_version` (0 = none).
  struct Hooks {
    std::function<std::uint32_t(const TwoTowerModel&)> number = {};
    std::function<void(std::int64_t version, const absl::Status& status,
                       const ServedModelPtr& model,
                       std::int64_t previous_version)>
        loaded = {};
  };

  // `pinned_version` 0 = none.
  ModelSlot(ModelSource source, std::int64_t pinned_version, Hooks hooks);
  ModelSlot(const ModelSlot&) = delete;
  ModelSlot& operator=(const ModelSlot&) = delete;

  // Looks at the source and loads what should be current and is not. OK when
  // something is current afterwards that should be; else what stood against
  // the best version: NotFound, DataLoss, ... Nothing gets worse by a failure.
  absl::Status Refresh();

  // Loads `version`, makes it current and pins it; 0 ends the pinning and
  // refreshes. NotFound when it is not there. True = something was loaded.
  absl::StatusOr<bool> SwitchTo(std::int64_t version);

  const std::string& name() const { return source_.name; }
  // Null while nothing has been published.
  ServedModelPtr current() const;

  // Versions that were tried since the start, newest first.
  std::vector<ModelStatus> ListTried() const { return Describe({}); }
  // Those and the ones on disk with a manifest; the disk is read for it.
  std::vector<ModelStatus> List() const;

 private:
  struct Record {
    ModelState state = ModelState::kFound;  // kRetiring until last seen alive
    std::weak_ptr<const ServedModel> model = {};
    absl::Time load_time = absl::InfinitePast();
    absl::Status failure = {};
    std::string tried_stamp = {};  // of the files when it was last tried
    std::string seen_stamp = {};   // of the files at the last look
  };

  absl::Status RefreshLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(load_mutex_);
  // Tries `version` if its files have changed since the last attempt and hold
  // still. OK when it is current afterwards.
  absl::Status Try(std::int64_t version)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(load_mutex_);
  absl::Status Load(std::int64_t version)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(load_mutex_);
  void Publish(std::int64_t version, ServedModelPtr served)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(load_mutex_);
  void ForgetOldRecords() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::vector<ModelStatus> Describe(
      const std::vector<std::int64_t>& on_disk) const;
  ModelStatus StatusOf(std::int64_t version, const Record& record) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const ModelSource source_;
  const Hooks hooks_;
  mutable Mutex load_mutex_ ABSL_ACQUIRED_BEFORE(mutex_);
  mutable Mutex mutex_;
  std::int64_t pinned_version_ ABSL_GUARDED_BY(mutex_);
  ServedModelPtr current_ ABSL_GUARDED_BY(mutex_);
  std::map<std::int64_t, Record> records_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_MODELS_MODEL_SLOT_H_
