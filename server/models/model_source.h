// The source of the versions of one model: a folder, or a test.
//
//   Threads  `list` and `list_complete` are thread-safe; one thread at a time
//            calls the others.
//   Errors   `list` returns NotFound for a folder without any version, else the
//            error of the file system. `load` returns those of LoadModel
//            (model_bundle.h).
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
  // The name in requests.
  std::string name = {};
  // Versions that exist, ascending; some may be impossible to load.
  std::function<absl::StatusOr<std::vector<std::int64_t>>()> list = {};
  // Versions whose manifest can be read, ascending.
  std::function<absl::StatusOr<std::vector<std::int64_t>>()> list_complete = {};
  // Whether a version has its manifest, which is written last.
  std::function<bool(std::int64_t version)> is_complete = {};
  // A text that changes when any file of the version does; empty = deleted.
  std::function<std::string(std::int64_t version)> stamp = {};
  // Reads a version and checks it.
  std::function<absl::StatusOr<std::shared_ptr<const TwoTowerModel>>(
      std::int64_t version)>
      load = {};
  // How many versions the trainer has made and not published, because they are
  // worse than the one that is served. May be null.
  std::function<std::int64_t()> num_rejected = {};
};

// The versions in `model_dir`, a folder that semrank-train wrote. It is polled
// by directory listings and file times, because change notifications do not
// cross network file systems and container mounts. An empty `name` means the
// name of the folder. Vectors are rounded to `precision`.
ModelSource FolderSource(const std::string& model_dir, std::string name = "",
                         VectorPrecision precision = VectorPrecision::kFloat32);

}  // namespace semrank

#endif  // SEMRANK_SERVER_MODELS_MODEL_SOURCE_H_
