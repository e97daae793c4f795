// MANIFEST.json: which files a version consists of, with their sizes and
// checksums (FORMAT.md).
#ifndef SEMRANK_MODEL_FORMAT_MANIFEST_H_
#define SEMRANK_MODEL_FORMAT_MANIFEST_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace semrank {

// The highest version that this release reads.
inline constexpr int kFormatVersion = 4;

inline constexpr char kManifestFile[] = "MANIFEST.json";
inline constexpr char kConfigFile[] = "config.json";
inline constexpr char kNgramsFile[] = "ngrams.txt";
inline constexpr char kWordsFile[] = "words.txt";
inline constexpr char kBigramsFile[] = "bigrams.txt";
inline constexpr char kWeightsFile[] = "weights.safetensors";

inline constexpr std::size_t kMaxManifestBytes = std::size_t{1} << 16;

struct FileFacts {
  std::uint64_t bytes = 0;
  std::string sha256;  // 64 lower-case hex digits
};

struct Manifest {
  int format_version = 1;
  std::map<std::string, FileFacts> files;  // by name, without the manifest
};

// InvalidArgument for malformed text or a file name that this format does not
// have; FailedPrecondition for a newer format.
absl::StatusOr<Manifest> ParseManifest(std::string_view json);
std::string FormatManifest(const Manifest& manifest);

// Size and checksum of a file's content.
absl::StatusOr<FileFacts> DescribeContent(std::string_view content);

// InvalidArgument unless `content` has the size and checksum of `facts`.
absl::Status CheckContent(std::string_view content, const FileFacts& facts);

}  // namespace semrank

#endif  // SEMRANK_MODEL_FORMAT_MANIFEST_H_
