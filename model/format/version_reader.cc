// A version is read in an order in which each file says what the next ones must
// be: the manifest gives sizes and checksums, the configuration gives names,
// lines and shapes. Nothing is parsed before its checksum has been compared.
// The manifest itself has none; its own SHA-256 is the identity of the version.
#include "model/format/version_reader.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/base/file_io.h"
#include "model/base/status_macros.h"
#include "model/format/manifest.h"
#include "model/format/model_config.h"
#include "model/format/model_tensors.h"
#include "model/format/safetensors.h"
#include "model/format/sha256.h"
#include "model/format/vocabulary_file.h"
#include "model/text/word_vocabulary.h"

namespace semrank {
namespace {

// Prefixes the message with the path. What a parser calls an invalid argument
// is a corrupt file here: DataLoss.
absl::Status InFile(const std::string& path, const absl::Status& status) {
  if (status.ok()) return status;
  const absl::StatusCode code = absl::IsInvalidArgument(status)
                                    ? absl::StatusCode::kDataLoss
                                    : status.code();
  return absl::Status(
      code, absl::StrFormat("%s: %s", path, std::string(status.message())));
}

template <typename T>
absl::StatusOr<T> InFile(const std::string& path, absl::StatusOr<T> result) {
  if (result.ok()) return result;
  return InFile(path, result.status());
}

// A file that is larger than it can be is corrupt; the limit is not the
// caller's. Other errors of one code, as of memory or of descriptors, say
// nothing about the file.
absl::Status CorruptIfLarger(const absl::Status& status,
                             const std::string& path, std::uint64_t max_bytes) {
  std::error_code unknown;
  if (!absl::IsResourceExhausted(status) ||
      std::filesystem::file_size(path, unknown) <= max_bytes || unknown) {
    return status;
  }
  return absl::DataLossError(status.message());
}

// The files of one version folder, verified against its manifest as they are
// opened. Errors as ReadVersion.
class VersionFiles {
 public:
  static absl::StatusOr<VersionFiles> Open(const std::string& folder);

  // SHA-256 of the manifest, which lists the other checksums and so identifies
  // the version.
  const std::string& identity() const { return identity_; }
  std::string Path(std::string_view name) const;
  // The checksum in the manifest; empty for a file that it does not list.
  std::string ListedSha256(const std::string& name) const;

  int format_version() const { return manifest_.format_version; }

  // DataLoss unless the manifest lists exactly these files.
  absl::Status CheckNames(const std::vector<std::string>& expected) const;

  // Reads a listed file and verifies the size and checksum of what was read.
  absl::StatusOr<std::shared_ptr<const LoadedFile>> Read(
      const char* name, std::uint64_t max_bytes) const;

 private:
  std::string folder_;
  std::string identity_;
  Manifest manifest_;
};

std::string VersionFiles::Path(std::string_view name) const {
  return absl::StrFormat("%s/%s", folder_, name);
}

std::string VersionFiles::ListedSha256(const std::string& name) const {
  const auto facts = manifest_.files.find(name);
  return facts == manifest_.files.end() ? "" : facts->second.sha256;
}

absl::StatusOr<VersionFiles> VersionFiles::Open(const std::string& folder) {
  VersionFiles files;
  files.folder_ = folder;
  const std::string path = files.Path(kManifestFile);
  absl::StatusOr<std::string> content = ReadFile(path, kMaxManifestBytes);
  if (!content.ok()) {
    return CorruptIfLarger(content.status(), path, kMaxManifestBytes);
  }
  SEMRANK_ASSIGN_OR_RETURN(files.manifest_,
                           InFile(path, ParseManifest(*content)));
  SEMRANK_ASSIGN_OR_RETURN(files.identity_, Sha256Hex(*content));
  return files;
}

absl::Status VersionFiles::CheckNames(
    const std::vector<std::string>& expected) const {
  // With equal numbers and every expected name the sets are the same.
  bool equal = manifest_.files.size() == expected.size();
  for (const std::string& name : expected) {
    equal = equal && manifest_.files.contains(name);
  }
  if (equal) return absl::OkStatus();
  return absl::DataLossError(absl::StrFormat(
      "%s: lists %d files that are not the %d that %s calls for",
      Path(kManifestFile), manifest_.files.size(), expected.size(),
      kConfigFile));
}

absl::StatusOr<std::shared_ptr<const LoadedFile>> VersionFiles::Read(
    const char* name, std::uint64_t max_bytes) const {
  const std::string path = Path(name);
  const auto facts = manifest_.files.find(name);
  if (facts == manifest_.files.end()) {
    return absl::DataLossError(
        absl::StrFormat("%s does not list %s", Path(kManifestFile), name));
  }
  // The size is checked before the file is read and hashed.
  if (facts->second.bytes > max_bytes) {
    return absl::DataLossError(
        absl::StrFormat("%s: %d bytes; at most %d are possible", path,
                        facts->second.bytes, max_bytes));
  }
  absl::StatusOr<std::shared_ptr<const LoadedFile>> file =
      LoadedFile::Read(path, facts->second.bytes);
  // The manifest lists the file and its size, so the version is corrupt.
  if (absl::IsNotFound(file.status()) ||
      absl::IsFailedPrecondition(file.status())) {
    return absl::DataLossError(file.status().message());
  }
  if (!file.ok()) {
    return CorruptIfLarger(file.status(), path, facts->second.bytes);
  }
  SEMRANK_RETURN_IF_ERROR(
      InFile(path, CheckContent((*file)->content(), facts->second)));
  return file;
}

absl::StatusOr<v1::ModelConfig> ReadConfig(const VersionFiles& files) {
  SEMRANK_ASSIGN_OR_RETURN(const auto file,
                           files.Read(kConfigFile, kMaxConfigBytes));
  const std::string path = files.Path(kConfigFile);
  SEMRANK_ASSIGN_OR_RETURN(v1::ModelConfig config,
                           InFile(path, ParseModelConfig(file->content())));
  SEMRANK_RETURN_IF_ERROR(InFile(path, CheckModelConfig(config)));
  if (FormatVersionOf(config) != files.format_version()) {
    return absl::DataLossError(absl::StrFormat(
        "%s: format_version is %d, where %s says %d", path,
        config.format_version(), kManifestFile, files.format_version()));
  }
  return config;
}

absl::StatusOr<std::vector<std::string>> ReadLines(const VersionFiles& files,
                                                   const char* name,
                                                   std::uint32_t num_lines) {
  // The size in the manifest bounds what is read; the configuration bounds
  // the lines.
  SEMRANK_ASSIGN_OR_RETURN(const auto file, files.Read(name, SIZE_MAX));
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
  // num_words counts the buckets too, but the file lists words only.
  const std::uint32_t num_buckets = config.ssi().unknown_word_buckets();
  SEMRANK_ASSIGN_OR_RETURN(
      std::vector<std::string> lines,
      ReadLines(files, kWordsFile,
                config.features().num_words() - num_buckets));
  SEMRANK_ASSIGN_OR_RETURN(WordVocabulary words,
                           InFile(files.Path(kWordsFile),
                                  WordVocabulary::FromList(std::move(lines))));
  words.HashUnknownWords(static_cast<int>(num_buckets));
  return words;
}

absl::StatusOr<std::optional<WordVocabulary>> ReadBigrams(
    const VersionFiles& files, const v1::ModelConfig& config) {
  if (!ListsBigrams(config)) return std::nullopt;
  SEMRANK_ASSIGN_OR_RETURN(
      std::vector<std::string> lines,
      ReadLines(files, kBigramsFile, config.features().num_bigrams()));
  return InFile(files.Path(kBigramsFile),
                WordVocabulary::FromBigramList(std::move(lines)));
}

// The largest size of the weights file: a header and the expected tensors. It
// is checked before the file is read. The products cannot overflow, as
// CheckModelConfig bounds each dimension. Tensors of int8 count as float32: the
// bound need not be exact.
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

// The tensors of the weights file, those of int8 as float32.
absl::StatusOr<OwnedTensors> ReadTensors(
    const std::string& path, const std::shared_ptr<const LoadedFile>& file,
    const v1::ModelConfig& config) {
  SEMRANK_ASSIGN_OR_RETURN(const TensorMap tensors,
                           ParseSafetensors(file->content(), path));
  SEMRANK_RETURN_IF_ERROR(InFile(path, CheckTensors(config, tensors)));
  OwnedTensors decoded = DecodeRows(config, tensors, file);
  // Factors may be so large that a product is infinite.
  if (config.weight_encoding() == v1::WEIGHT_ENCODING_INT8) {
    SEMRANK_RETURN_IF_ERROR(
        InFile(path, CheckTensors(WithFloatWeights(config), decoded.tensors)));
  }
  return decoded;
}

// The precision is part of the identity, so that vectors of two precisions are
// never mixed.
std::string_view PrecisionSuffix(VectorPrecision precision) {
  switch (precision) {
    case VectorPrecision::kFloat32:
      return "";
    case VectorPrecision::kBf16:
      return "-bf16";
    case VectorPrecision::kInt8:
      return "-int8";
  }
  return "";
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
  version.identity += PrecisionSuffix(version.vector_precision);
  version.weights_sha256 = files.ListedSha256(kWeightsFile);
  // The configuration comes first: it determines which other files there must
  // be, and their largest sizes.
  SEMRANK_ASSIGN_OR_RETURN(v1::ModelConfig config, ReadConfig(files));
  SEMRANK_RETURN_IF_ERROR(files.CheckNames(ExpectedFiles(config)));
  // The largest file comes first, so that a corrupt one is found before
  // anything is built.
  SEMRANK_ASSIGN_OR_RETURN(const auto weights,
                           files.Read(kWeightsFile, MaxWeightBytes(config)));
  SEMRANK_ASSIGN_OR_RETURN(auto words, ReadWords(files, config));
  SEMRANK_ASSIGN_OR_RETURN(auto ngrams, ReadNgrams(files, config));
  SEMRANK_ASSIGN_OR_RETURN(auto bigrams, ReadBigrams(files, config));
  SEMRANK_ASSIGN_OR_RETURN(
      Featurizer featurizer,
      InFile(folder,
             Featurizer::Create(
                 std::move(ngrams), std::move(words), std::move(bigrams),
                 static_cast<int>(config.features().normalizer_version()))));
  SEMRANK_ASSIGN_OR_RETURN(
      OwnedTensors tensors,
      ReadTensors(files.Path(kWeightsFile), weights, config));
  return InFile(folder, MakeModel(std::move(version), std::move(config),
                                  std::move(featurizer), tensors.tensors,
                                  std::move(tensors.storage)));
}

absl::StatusOr<OwnedTensors> ReadWeights(const std::string& folder) {
  SEMRANK_ASSIGN_OR_RETURN(const VersionFiles files,
                           VersionFiles::Open(folder));
  SEMRANK_ASSIGN_OR_RETURN(const v1::ModelConfig config, ReadConfig(files));
  SEMRANK_ASSIGN_OR_RETURN(const auto weights,
                           files.Read(kWeightsFile, MaxWeightBytes(config)));
  return ReadTensors(files.Path(kWeightsFile), weights, config);
}

}  // namespace semrank
