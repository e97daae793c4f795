// Where the versions of one model come from; a folder, or what a test says.
//
//   Threads  `list_complete` from any thread; the others by one at a time.
#ifndef SEMRANK_SERVER_MODELS_MODEL_SOURCE_H_
#define SEMRANK_SERVER_MODELS_MODEL_SOURCE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/nn/two_tower_model.h"

namespace semrank {

struct ModelSource {
  // As requests name it.
  std::string name = {};
  // Versions that are there, rising; whether they can be loaded is not said.
  std::function<absl::StatusOr<std::vector<std::int64_t>>()> list = {};
  // Those of which a manifest can be read, rising.
  std::function<absl::StatusOr<std::vector<std::int64_t>>()> list_complete = {};
  // A text that changes when any file of the version does; empty = deleted.
  std::function<std::string(std::int64_t version)> stamp = {};
  // Reads a version and checks it.
  std::function<absl::StatusOr<std::shared_ptr<const TwoTowerModel>>(
      std::int64_t version)>
      load = {};
};

// Versions in `model_dir`, a folder as semrank-train writes it. Looks with
// plain directory listings and file times, so it works on network file systems
// and container mounts, where change notices do not. `name` empty = the
// folder's. Vectors are rounded to `precision`.
ModelSource FolderSource(const std::string& model_dir, std::string name = "",
                         VectorPrecision precision = VectorPrecision::kFloat32);

}  // namespace semrank

#endif  // SEMRANK_SERVER_MODELS_MODEL_SOURCE_H_
