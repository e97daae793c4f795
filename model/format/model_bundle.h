// A model directory: <model_dir>/<version>/ with config, weights,
// vocabularies and MANIFEST.json (FORMAT.md).
//
//   Publish  writes <version>.tmp-<pid>, syncs it, then renames it: a version
//            is either complete or absent.
//   Errors   NotFound if there is no such folder or no complete version in it.
//            DataLoss for a corrupt file; the message names the file and the
//            reason. FailedPrecondition for a newer format than this reader's.
//            The code is Unimplemented for a tower that this release cannot
//            compute.
#ifndef SEMRANK_MODEL_FORMAT_MODEL_BUNDLE_H_
#define SEMRANK_MODEL_FORMAT_MODEL_BUNDLE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/format/safetensors.h"
#include "model/nn/two_tower_model.h"
#include "model/text/featurizer.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {

// Returns the complete versions in `model_dir` in ascending order: those whose
// MANIFEST.json can be parsed, also if it is of a newer format. Other folders
// are ignored. Reads one small file per version; the other files are not
// opened.
absl::StatusOr<std::vector<std::int64_t>> ListVersions(
    const std::string& model_dir);

// Checks every file against the manifest and builds the model; weights are
// used in place, in the memory that the file was read into. version 0 = the
// highest complete one. The model is named `name`; empty = after the folder
// `model_dir`. Its vectors are rounded to `precision`.
absl::StatusOr<std::shared_ptr<const TwoTowerModel>> LoadModel(
    const std::string& model_dir, std::int64_t version = 0,
    const std::string& name = "",
    VectorPrecision precision = VectorPrecision::kFloat32);

struct ModelBundle {
  v1::ModelConfig config;
  const Featurizer* featurizer = nullptr;
  // Tensors by their names in FORMAT.md: query.0.weight, query.0.bias, ...,
  // document.0... They are float32 also for a `config` with int8 weights.
  std::vector<TensorView> tensors;
  // Files for people and trainers, by name: the manifest does not list them,
  // and readers of the model ignore them. Empty ones are not written.
  std::map<std::string, std::string> other_files = {};
};

// Publishes the bundle as the next version (highest existing + 1, at first 1)
// and returns its number. Concurrent writers of one model_dir get different
// versions. InvalidArgument if the parts of the bundle contradict each other or
// FORMAT.md; otherwise errors of the file system. The files are read back, as
// by LoadModel, before the rename. After an error there is no new version.
absl::StatusOr<std::int64_t> PublishModel(const std::string& model_dir,
                                          const ModelBundle& bundle);

}  // namespace semrank

#endif  // SEMRANK_MODEL_FORMAT_MODEL_BUNDLE_H_
