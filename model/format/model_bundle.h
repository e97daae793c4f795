// A model directory: <model_dir>/<version>/ with config, weights,
// vocabularies and MANIFEST.json (FORMAT.md).
//
//   Publish  into <version>.tmp-<pid>, synced, then renamed: a version is
//            either whole or not there.
//   Errors   NotFound: no such folder, or no complete version in it.
//            DataLoss: damaged (the file and the reason are named).
//            FailedPrecondition: written by a newer format than this reader's.
//   Threads  free functions, from any thread; two writers of one model_dir
//            get different versions.
#ifndef SEMRANK_MODEL_FORMAT_MODEL_BUNDLE_H_
#define SEMRANK_MODEL_FORMAT_MODEL_BUNDLE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/format/safetensors.h"
#include "model/nn/two_tower_model.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {

inline constexpr int kFormatVersion = 1;

// Complete versions in `model_dir` (those with a readable MANIFEST.json),
// rising. Temporary and foreign names are ignored.
absl::StatusOr<std::vector<std::int64_t>> ListVersions(
    const std::string& model_dir);

// Checks every file against the manifest and builds the model; weights are
// used in place from the mapped file. version 0 = the highest complete one.
absl::StatusOr<std::shared_ptr<const TwoTowerModel>> LoadModel(
    const std::string& model_dir, std::int64_t version = 0);

struct ModelBundle {
  v1::ModelConfig config;
  const Featurizer* featurizer = nullptr;
  // Named as in FORMAT.md: query.0.weight, query.0.bias, ..., document.0...
  std::vector<TensorView> tensors;
};

// Publishes as the next version (highest existing + 1, first 1) and returns
// its number. The bundle is checked as a reader would before the rename.
absl::StatusOr<std::int64_t> PublishModel(const std::string& model_dir,
                                          const ModelBundle& bundle);

}  // namespace semrank

#endif  // SEMRANK_MODEL_FORMAT_MODEL_BUNDLE_H_
