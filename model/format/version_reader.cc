#include "model/format/version_reader.h"

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/base/file_io.h"
#include "model/base/status_macros.h"
#include "model/format/manifest.h"
#include "model/format/model_config.h"
#include "model/format/model_tensors.h"
#include "model/format/safetensors.h"
#include "model/format/version_files.h"
#include "model/format/vocabulary_file.h"

namespace semrank {
namespace {

absl::StatusOr<v1::ModelConfig> ReadConfig(const VersionFiles& files) {
  SEMRANK_ASSIGN_OR_RETURN(const auto file,
                           files.Map(kConfigFile, kMaxConfigBytes));
  const std::string path = files.Path(kConfigFile);
  SEMRANK_ASSIGN_OR_RETURN(v1::ModelConfig config,
                           InFile(path, ParseModelConfig(file->content())));
  SEMRANK_RETURN_IF_ERROR(InFile(path, CheckModelConfig(config)));
  return config;
}

absl::StatusOr<std::vector<std::string>> ReadLines(const VersionFiles& files,
                                                   const char* name,
                                                   std::uint32_t num_lines) {
  SEMRANK_ASSIGN_OR_RETURN(const auto file, files.Map(name, SIZE_MAX));
  return InFile(files.Path(name), ParseLines(file->content(), num_lines));
}

absl::StatusOr<std::optional<NgramVocabulary>> ReadNgrams(
    const VersionFiles& files, const v1::ModelConfig& config) {
  const v1::FeatureSpec& spec = config.features();
  if (spec.num_ngrams() == 0) return std::nullopt;
  const auto length = static_cast<int>(spec.ngram_length());
  if (!ListsNgrams(config)) {
    return NgramVocabulary::Hashed(length,
                                   static_cast<int>(spec.hash_buckets()));
  }
  SEMRANK_ASSIGN_OR_RETURN(std::vector<std::string> lines,
                           ReadLines(files, kNgramsFile, spec.num_ngrams()));
  return InFile(files.Path(kNgramsFile),
                NgramVocabulary::FromList(length, std::move(lines)));
}

absl::StatusOr<std::optional<WordVocabulary>> ReadWords(
    const VersionFiles& files, const v1::ModelConfig& config) {
  if (!ListsWords(config)) return std::nullopt;
  SEMRANK_ASSIGN_OR_RETURN(
      std::vector<std::string> lines,
      ReadLines(files, kWordsFile, config.features().num_words()));
  return InFile(files.Path(kWordsFile),
                WordVocabulary::FromList(std::move(lines)));
}

// Header and all tensors that the configuration asks for.
std::uint64_t MaxWeightBytes(const v1::ModelConfig& config) {
  std::uint64_t bytes = kMaxSafetensorsHeaderBytes + sizeof(std::uint64_t);
  for (const ExpectedTensor& tensor : ExpectedTensors(config)) {
    std::uint64_t floats = 1;
    for (const std::int64_t size : tensor.shape) {
      floats *= static_cast<std::uint64_t>(size);
    }
    bytes += floats * sizeof(float);
  }
  return bytes;
}

absl::StatusOr<TensorMap> ReadTensors(const std::string& path,
                                      const MappedFile& file,
                                      const v1::ModelConfig& config) {
  SEMRANK_ASSIGN_OR_RETURN(TensorMap tensors,
                           ParseSafetensors(file.content(), path));
  SEMRANK_RETURN_IF_ERROR(InFile(path, CheckTensors(config, tensors)));
  return tensors;
}

}  // namespace

absl::Status CheckManifestOf(const std::string& folder) {
  return VersionFiles::Open(folder).status();
}

absl::StatusOr<std::shared_ptr<const TwoTowerModel>> ReadVersion(
    const std::string& folder, ModelVersion version) {
  SEMRANK_ASSIGN_OR_RETURN(const VersionFiles files,
                           VersionFiles::Open(folder));
  version.identity = files.identity();
  version.weights_sha256 = files.ListedSha256(kWeightsFile);
  SEMRANK_ASSIGN_OR_RETURN(v1::ModelConfig config, ReadConfig(files));
  SEMRANK_RETURN_IF_ERROR(files.CheckNames(ExpectedFiles(config)));
  // The largest file first: a damaged one is found before anything is built.
  SEMRANK_ASSIGN_OR_RETURN(const auto weights,
                           files.Map(kWeightsFile, MaxWeightBytes(config)));
  SEMRANK_ASSIGN_OR_RETURN(auto words, ReadWords(files, config));
  SEMRANK_ASSIGN_OR_RETURN(auto ngrams, ReadNgrams(files, config));
  SEMRANK_ASSIGN_OR_RETURN(
      Featurizer featurizer,
      InFile(folder, Featurizer::Create(std::move(ngrams), std::move(words))));
  SEMRANK_ASSIGN_OR_RETURN(
      const TensorMap tensors,
      ReadTensors(files.Path(kWeightsFile), *weights, config));
  return InFile(folder, MakeModel(std::move(version), std::move(config),
                                  std::move(featurizer), tensors, weights));
}

}  // namespace semrank
