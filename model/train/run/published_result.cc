#include "model/train/run/published_result.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "model/base/file_io.h"
#include "model/format/manifest.h"
#include "model/format/model_config.h"
#include "model/format/safetensors.h"
#include "model/format/version_directory.h"

namespace semrank {
namespace {

std::string WithoutTime(v1::ModelConfig config) {
  config.mutable_training()->clear_create_time();
  return FormatModelConfig(config).value_or("");
}

bool IsSame(const TensorView& a, const TensorView& b) {
  std::size_t bytes = sizeof(float);
  for (const std::int64_t size : a.shape) {
    bytes *= static_cast<std::size_t>(size);
  }
  return a.shape == b.shape && std::memcmp(a.data, b.data, bytes) == 0;
}

bool HasWeights(const std::string& path, const ModelBundle& bundle) {
  const auto file = MappedFile::Open(path);
  if (!file.ok()) return false;
  const auto tensors = ParseSafetensors((*file)->content(), path);
  return tensors.ok() && tensors->size() == bundle.tensors.size() &&
         std::all_of(bundle.tensors.begin(), bundle.tensors.end(),
                     [&](const TensorView& tensor) {
                       const auto found = tensors->find(tensor.name);
                       return found != tensors->end() &&
                              IsSame(found->second, tensor);
                     });
}

}  // namespace

std::optional<std::int64_t> FindPublished(const std::string& model_dir,
                                          const ModelBundle& bundle) {
  const auto model = LoadModel(model_dir);
  if (!model.ok() ||
      WithoutTime((*model)->config()) != WithoutTime(bundle.config)) {
    return std::nullopt;
  }
  const std::int64_t version = (*model)->version().version;
  if (!HasWeights(VersionPath(model_dir, version) + "/" + kWeightsFile,
                  bundle)) {
    return std::nullopt;
  }
  return version;
}

}  // namespace semrank
