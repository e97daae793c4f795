// One named model: the version that answers, the state of the others, and the
// replacement of one version by another.
//
//   Choice   the highest version that can be loaded, unless one is pinned. A
//            version that is deleted from disk is still served.
//   Written  a version without a manifest is being written. That is not a
//            failure, and the version is looked at again each time.
//   Refused  a version that failed is tried again only when its files have
//            changed and then stayed the same for one more look: a folder that
//            is being copied costs one failure, not one for each look. After
//            an error of the system, as of memory, each look tries again.
//   Memory   holds two versions while one replaces the other; the old one is
//            freed with the last request that uses it.
//   Threads  thread-safe. Refresh and SwitchTo wait for each other; the other
//            methods never wait for a load.
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

// The numbers are those of the API.
enum class ModelState {
  kFound = 1,  // on disk, not tried, or not complete yet: becomes kLoading
  kLoading,    // being read and tested: becomes kServing or kFailed
  kServing,    // answers requests, until another version replaces it
  kRetiring,   // replaced, but requests that began before still use it
  kRetired,    // replaced, and no longer in memory
  kFailed      // could not be loaded: becomes kLoading when its files change
};

// One version, as operators see it.
struct ModelStatus {
  std::string name = {};
  std::int64_t version = 0;
  ModelState state = ModelState::kFound;
  ServedModelPtr model = {};                    // while it is in memory
  absl::Time load_time = absl::InfinitePast();  // = never
  absl::Status failure = {};                    // of the last attempt to load
  bool current = false;
  bool pinned = false;
  // ModelStore sets them for the current version.
  bool is_default = false;
  std::vector<std::string> aliases = {};
};

// The test that a model must pass before it may answer. It embeds a few texts
// on both sides, which also brings the weights into memory. DataLoss unless
// every vector is finite, has length 1 or 0 (SSI: any length), and is the same
// bits alone and in a batch.
absl::Status SelfTest(const TwoTowerModel& model);

// One attempt to load a version.
struct ModelLoad {
  std::string name = {};
  std::int64_t version = 0;
  absl::Status status = {};
  ServedModelPtr model = {};          // null when it failed
  std::int64_t previous_version = 0;  // was current before; 0 = none
  bool incomplete = false;            // is being written, and was not tried
};

class ModelSlot {
 public:
  // The loading thread calls them. `number` returns the number of a loaded
  // model, and `quality`, which may be null, its counters. `loaded` is called
  // after every attempt, when the new model has been published, and once for a
  // version that is being written.
  struct Hooks {
    std::function<std::uint32_t(const TwoTowerModel&)> number = {};
    std::function<std::shared_ptr<const ModelQuality>(const TwoTowerModel&)>
        quality = {};
    std::function<void(const ModelLoad&)> loaded = {};
  };

  // `pinned_version` 0 = none.
  ModelSlot(ModelSource source, std::int64_t pinned_version, Hooks hooks);
  ModelSlot(const ModelSlot&) = delete;
  ModelSlot& operator=(const ModelSlot&) = delete;

  // Looks at the source and loads the version that should be current. OK when
  // that version is current afterwards; otherwise the error of the best
  // version: NotFound, DataLoss, ... A failure leaves the current version in
  // place.
  absl::Status Refresh();

  // Loads `version`, makes it current and pins it; 0 ends the pinning and
  // refreshes. NotFound when the version does not exist. True = a version was
  // loaded.
  absl::StatusOr<bool> SwitchTo(std::int64_t version);

  const std::string& name() const { return source_.name; }
  // As ModelSource::num_rejected.
  std::int64_t CountRejected() const;
  // Null while nothing has been published.
  ServedModelPtr current() const;

  // Versions that the server has tried to load since its start, newest first.
  std::vector<ModelStatus> ListTried() const { return Describe({}); }
  // As ListTried, with the versions on disk that have a manifest, and without
  // those that were deleted unless they are still in memory. Reads the disk.
  std::vector<ModelStatus> List() const;

 private:
  struct Record {
    ModelState state =
        ModelState::kFound;  // never kRetired: StatusOf finds out
    std::weak_ptr<const ServedModel> model = {};
    absl::Time load_time = absl::InfinitePast();
    absl::Status failure = {};
    // The stamp of the last attempt; empty if the same files may load now.
    std::string tried_stamp = {};
    std::string seen_stamp = {};  // the stamp of the last look
  };

  absl::Status RefreshLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(load_mutex_);
  // Loads `version` if its files have changed since the last attempt, or the
  // system failed then, and are still now. OK when it is current afterwards.
  absl::Status Try(std::int64_t version)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(load_mutex_);
  absl::Status Load(std::int64_t version)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(load_mutex_);
  // Returns Unavailable for a version that is being written.
  absl::Status NoteIncomplete(std::int64_t version)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(load_mutex_);
  void Publish(std::int64_t version, ServedModelPtr served)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(load_mutex_);
  void RemoveOldRecords() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
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
