// A model directory: <model_dir>/<version>/ with config, weights,
// vocabularies and MANIFEST.json (FORMAT.md).
//
//   Publish  into <version>.tmp-<pid>, synced, then renamed: a version is
//            either whole or not there.
//   Errors   NotFound: no such folder, or no complete version in it.
//            DataLoss: damaged (the file and the reason are named).
//            FailedPrecondition: written by a newer format than this reader's.
//            Unimplemented: a tower that this release cannot compute.
//   Threads  free functions, from any thread; two writers of one model_dir
//            get different versions.
#ifndef SEMRANK_MODEL_FORMAT_MODEL_BUNDLE_H_
#define SEMRANK_MODEL_FORMAT_MODEL_BUNDLE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/format/manifest.h"
#include "model/format/safetensors.h"
#include "model/nn/two_tower_model.h"
#include "model/text/featurizer.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {

// Complete versions in `model_dir` (those whose MANIFEST.json can be read and
// parsed, be it of a newer format), rising. Temporary and foreign names are
// ignored. Costs one small file a version; the other files are not opened.
absl::StatusOr<std::vector<std::int64_t>> ListVersions(
    const std::string& model_dir);

// Checks every file against the manifest and builds the model; weights are
// used in place from the mapped file. version 0 = the highest complete one.
// The model is named `name`; empty = after the folder `model_dir`.
absl::StatusOr<std::shared_ptr<const TwoTowerModel>> LoadModel(
    const std::string& model_dir, std::int64_t version = 0,
    const std::string& name = "");

struct ModelBundle {
  v1::ModelConfig config;
  const Featurizer* featurizer = nullptr;
  // Named as in FORMAT.md: query.0.weight, query.0.bias, ..., document.0...
  std::vector<TensorView> tensors;
};

// Publishes as the next version (highest existing + 1, first 1) and returns
// its number. InvalidArgument when the parts of the bundle do not fit each
// other or FORMAT.md; otherwise what the file system answers. The files are
// read back, as LoadModel would, before the rename. After an error there is
// no new version.
absl::StatusOr<std::int64_t> PublishModel(const std::string& model_dir,
                                          const ModelBundle& bundle);

}  // namespace semrank

#endif  // SEMRANK_MODEL_FORMAT_MODEL_BUNDLE_H_
