// Versions of a model that a test makes up, without a disk.
#ifndef SEMRANK_TESTS_SUPPORT_MEMORY_SOURCE_H_
#define SEMRANK_TESTS_SUPPORT_MEMORY_SOURCE_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/base/mutex.h"
#include "server/models/model_source.h"

namespace semrank {

// A folder of versions that a test fills and spoils, from any thread. Must
// outlive its source.
class MemoryFolder {
 public:
  using Content = absl::StatusOr<std::shared_ptr<const TwoTowerModel>>;

  // What loading `version` gives from now on; its files have another stamp.
  void Put(std::int64_t version, Content content) {
    MutexLock lock(mutex_);
    versions_.insert_or_assign(version,
                               Version{std::move(content), ++num_changes_});
  }
  void Remove(std::int64_t version) {
    MutexLock lock(mutex_);
    versions_.erase(version);
  }
  int num_loads() const {
    MutexLock lock(mutex_);
    return num_loads_;
  }

  ModelSource Source(std::string name) {
    ModelSource source;
    source.name = std::move(name);
    source.list = source.list_complete = [this] { return List(); };
    source.is_complete = [](std::int64_t /*version*/) { return true; };
    source.stamp = [this](std::int64_t version) { return Stamp(version); };
    source.load = [this](std::int64_t version) { return Load(version); };
    return source;
  }

 private:
  struct Version {
    Content content;
    int change = 0;
  };

  absl::StatusOr<std::vector<std::int64_t>> List() const {
    MutexLock lock(mutex_);
    std::vector<std::int64_t> list;
    for (const auto& [version, content] : versions_) list.push_back(version);
    return list;
  }
  std::string Stamp(std::int64_t version) const {
    MutexLock lock(mutex_);
    const auto found = versions_.find(version);
    return found == versions_.end() ? "" : std::to_string(found->second.change);
  }
  Content Load(std::int64_t version) {
    MutexLock lock(mutex_);
    ++num_loads_;
    const auto found = versions_.find(version);
    if (found == versions_.end()) return absl::NotFoundError("no such version");
    return found->second.content;
  }

  mutable Mutex mutex_;
  std::map<std::int64_t, Version> versions_ ABSL_GUARDED_BY(mutex_);
  int num_changes_ ABSL_GUARDED_BY(mutex_) = 0;
  int num_loads_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace semrank

#endif  // SEMRANK_TESTS_SUPPORT_MEMORY_SOURCE_H_
