#include "model/format/model_bundle.h"

#include <algorithm>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "model/base/file_io.h"
#include "model/base/status_macros.h"
#include "model/format/int8_rows.h"
#include "model/format/manifest.h"
#include "model/format/model_config.h"
#include "model/format/model_tensors.h"
#include "model/format/version_directory.h"
#include "model/format/version_reader.h"
#include "model/format/vocabulary_file.h"

namespace semrank {
namespace {

// Makes all checks of a reader on the bundle in memory, so that a wrong bundle
// writes nothing.
absl::StatusOr<TensorMap> CheckBundle(const ModelBundle& bundle) {
  if (bundle.featurizer == nullptr) {
    return absl::InvalidArgumentError("the bundle has no featurizer");
  }
  SEMRANK_RETURN_IF_ERROR(CheckModelConfig(bundle.config));
  SEMRANK_RETURN_IF_ERROR(
      CheckSpec(bundle.config.features(), *bundle.featurizer));
  TensorMap tensors;
  for (const TensorView& tensor : bundle.tensors) {
    if (!tensors.emplace(tensor.name, tensor).second) {
      return absl::InvalidArgumentError(
          absl::StrFormat("tensor \"%s\" is repeated", tensor.name));
    }
  }
  SEMRANK_RETURN_IF_ERROR(
      CheckTensors(WithFloatWeights(bundle.config), tensors));
  return tensors;
}

std::string PathIn(const std::string& folder, std::string_view name) {
  return absl::StrFormat("%s/%s", folder, name);
}

absl::Status WriteTexts(const std::string& folder, const ModelBundle& bundle) {
  SEMRANK_ASSIGN_OR_RETURN(const std::string config,
                           FormatModelConfig(bundle.config));
  SEMRANK_RETURN_IF_ERROR(WriteFile(PathIn(folder, kConfigFile), config));
  const Featurizer& featurizer = *bundle.featurizer;
  if (ListsNgrams(bundle.config)) {
    SEMRANK_RETURN_IF_ERROR(
        WriteFile(PathIn(folder, kNgramsFile),
                  FormatLines(featurizer.ngrams()->ngrams())));
  }
  if (ListsWords(bundle.config)) {
    SEMRANK_RETURN_IF_ERROR(WriteFile(
        PathIn(folder, kWordsFile), FormatLines(featurizer.words()->words())));
  }
  if (ListsBigrams(bundle.config)) {
    SEMRANK_RETURN_IF_ERROR(
        WriteFile(PathIn(folder, kBigramsFile),
                  FormatLines(featurizer.bigrams()->words())));
  }
  for (const auto& [name, content] : bundle.other_files) {
    if (content.empty()) continue;
    SEMRANK_RETURN_IF_ERROR(WriteFile(PathIn(folder, name), content));
  }
  return absl::OkStatus();
}

// Writes the tensors in the order of FORMAT.md, not of the bundle, so that
// equal models have equal files.
absl::Status WriteWeights(const std::string& folder,
                          const v1::ModelConfig& config,
                          const TensorMap& tensors) {
  const OwnedTensors encoded = EncodeRows(config, tensors);
  std::vector<TensorView> ordered;
  for (const ExpectedTensor& tensor : ExpectedTensors(config)) {
    ordered.push_back(encoded.tensors.at(tensor.name));
  }
  return WriteSafetensors(PathIn(folder, kWeightsFile), ordered);
}

absl::Status WriteManifest(const std::string& folder,
                           const v1::ModelConfig& config) {
  Manifest manifest = {.format_version = FormatVersionOf(config), .files = {}};
  for (const std::string& name : ExpectedFiles(config)) {
    // The checksum is that of the written file, so that it covers the write.
    SEMRANK_ASSIGN_OR_RETURN(const auto file,
                             LoadedFile::Read(PathIn(folder, name)));
    SEMRANK_ASSIGN_OR_RETURN(manifest.files[name],
                             DescribeContent(file->content()));
  }
  return WriteFile(PathIn(folder, kManifestFile), FormatManifest(manifest));
}

absl::Status CheckVersionExists(const std::string& model_dir,
                                std::int64_t version) {
  SEMRANK_ASSIGN_OR_RETURN(const std::vector<std::int64_t> versions,
                           ListVersionFolders(model_dir));
  if (std::ranges::binary_search(versions, version)) return absl::OkStatus();
  if (versions.empty()) return NoVersionError(model_dir);
  return absl::NotFoundError(absl::StrFormat("%s has no version %d (found %s)",
                                             model_dir, version,
                                             absl::StrJoin(versions, ", ")));
}

}  // namespace

absl::StatusOr<std::vector<std::int64_t>> ListVersions(
    const std::string& model_dir) {
  SEMRANK_ASSIGN_OR_RETURN(const std::vector<std::int64_t> folders,
                           ListVersionFolders(model_dir));
  std::vector<std::int64_t> complete;
  for (const std::int64_t version : folders) {
    const absl::Status status =
        CheckManifestOf(VersionPath(model_dir, version));
    // A version of a newer format counts: serving an older one instead would
    // hide that this release is too old.
    if (status.ok() || absl::IsFailedPrecondition(status)) {
      complete.push_back(version);
    }
  }
  return complete;
}

absl::StatusOr<std::shared_ptr<const TwoTowerModel>> LoadModel(
    const std::string& model_dir, std::int64_t version, const std::string& name,
    VectorPrecision precision) {
  if (version < 0) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "version %d of %s: versions count from 1", version, model_dir));
  }
  if (version == 0) {
    SEMRANK_ASSIGN_OR_RETURN(const std::vector<std::int64_t> versions,
                             ListVersions(model_dir));
    if (versions.empty()) return NoVersionError(model_dir);
    version = versions.back();
  } else {
    // Without this check the error would be about a missing manifest, as if the
    // version were incomplete.
    SEMRANK_RETURN_IF_ERROR(CheckVersionExists(model_dir, version));
  }
  return ReadVersion(VersionPath(model_dir, version),
                     {.name = name.empty() ? ModelNameOf(model_dir) : name,
                      .version = version,
                      .identity = "",
                      .vector_precision = precision});
}

absl::StatusOr<std::int64_t> PublishModel(const std::string& model_dir,
                                          const ModelBundle& bundle) {
  SEMRANK_ASSIGN_OR_RETURN(const TensorMap tensors, CheckBundle(bundle));
  SEMRANK_ASSIGN_OR_RETURN(StagedVersion staged,
                           StagedVersion::Create(model_dir));
  SEMRANK_RETURN_IF_ERROR(WriteTexts(staged.path(), bundle));
  SEMRANK_RETURN_IF_ERROR(WriteWeights(staged.path(), bundle.config, tensors));
  // The manifest comes last: without it a folder is not a version.
  SEMRANK_RETURN_IF_ERROR(WriteManifest(staged.path(), bundle.config));
  // Reading the version again finds bytes that a faulty disk changed, and our
  // own bugs, before a server loads them.
  SEMRANK_RETURN_IF_ERROR(ReadVersion(staged.path(), {}).status());
  return staged.Publish();
}

}  // namespace semrank
