#include "model/format/manifest.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/format/sha256.h"
#include "model/format/strict_json.h"

namespace semrank {
namespace {

using nlohmann::json;

constexpr char kVersionMember[] = "format_version";
constexpr std::string_view kFiles[] = {kConfigFile, kNgramsFile, kWordsFile,
                                       kBigramsFile, kWeightsFile};

// Returns null unless the member is a whole number that is not negative: the
// parser stores -1, 1.0 and 1e3 as other types than std::uint64_t.
const std::uint64_t* UnsignedMember(const json& object, const char* name) {
  const auto member = object.find(name);
  return member == object.end() ? nullptr
                                : member->get_ptr<const std::uint64_t*>();
}

// Accepts lower case only, as FormatManifest writes it: checksums are compared
// as texts.
bool IsSha256(std::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

absl::StatusOr<int> ParseVersion(const json& manifest) {
  const std::uint64_t* version = UnsignedMember(manifest, kVersionMember);
  if (version == nullptr || *version == 0) {
    return absl::InvalidArgumentError(
        "format_version is not a whole number from 1 on");
  }
  // The file is not damaged, but this release is too old. ListVersions counts
  // such a version as complete.
  if (*version > kFormatVersion) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "format_version is %d; this release reads versions up to %d", *version,
        kFormatVersion));
  }
  return static_cast<int>(*version);
}

absl::StatusOr<FileFacts> ParseFacts(const std::string& name,
                                     const json& value) {
  // Only fixed names are allowed, so that a manifest cannot point outside
  // its folder.
  if (std::ranges::find(kFiles, name) == std::end(kFiles)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("\"%s\" is not a file of this format", name));
  }
  const std::uint64_t* bytes = nullptr;
  const std::string* sha256 = nullptr;
  if (value.is_object() && value.size() == 2 && value.contains("sha256")) {
    bytes = UnsignedMember(value, "bytes");
    sha256 = value.find("sha256")->get_ptr<const std::string*>();
  }
  if (bytes == nullptr || sha256 == nullptr || !IsSha256(*sha256)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "\"%s\" does not state bytes and sha256, and nothing else", name));
  }
  return FileFacts{*bytes, *sha256};
}

}  // namespace

absl::StatusOr<Manifest> ParseManifest(std::string_view text) {
  // No checksum covers the manifest itself, so the final line feed shows that
  // it is not truncated.
  if (!text.ends_with('\n')) {
    return absl::InvalidArgumentError("does not end in a line feed");
  }
  SEMRANK_ASSIGN_OR_RETURN(const json object, ParseStrictJson(text));
  if (!object.is_object()) {
    return absl::InvalidArgumentError("not a JSON object");
  }
  Manifest manifest;
  SEMRANK_ASSIGN_OR_RETURN(manifest.format_version, ParseVersion(object));
  for (const auto& [name, value] : object.items()) {
    if (name == kVersionMember) continue;
    SEMRANK_ASSIGN_OR_RETURN(manifest.files[name], ParseFacts(name, value));
  }
  return manifest;
}

std::string FormatManifest(const Manifest& manifest) {
  // nlohmann::json sorts members by name. Equal manifests must be equal bytes,
  // since their SHA-256 identifies the version.
  json object = {{kVersionMember, manifest.format_version}};
  for (const auto& [name, facts] : manifest.files) {
    object[name] = {{"bytes", facts.bytes}, {"sha256", facts.sha256}};
  }
  return object.dump(/*indent=*/2) + "\n";
}

absl::StatusOr<FileFacts> DescribeContent(std::string_view content) {
  SEMRANK_ASSIGN_OR_RETURN(std::string sha256, Sha256Hex(content));
  return FileFacts{content.size(), std::move(sha256)};
}

absl::Status CheckContent(std::string_view content, const FileFacts& facts) {
  // The size is checked first: it costs nothing and gives the clearer message
  // for a truncated file.
  if (content.size() != facts.bytes) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%d bytes, where %s says %d", content.size(),
                        kManifestFile, facts.bytes));
  }
  SEMRANK_ASSIGN_OR_RETURN(const std::string sha256, Sha256Hex(content));
  if (sha256 != facts.sha256) {
    return absl::InvalidArgumentError(
        absl::StrFormat("SHA-256 is %s, where %s says %s", sha256,
                        kManifestFile, facts.sha256));
  }
  return absl::OkStatus();
}

}  // namespace semrank
