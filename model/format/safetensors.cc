// byte 0      n, the length of the header: unsigned, 64 bits, little-endian
// byte 8      header, JSON padded with blanks
// byte 8 + n  data, one tensor after another
//
// A file may come from anywhere: each length and offset is compared with the
// bytes that there are before it is used.
#include "model/format/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/file_io.h"
#include "model/base/status_macros.h"
#include "model/format/strict_json.h"

namespace semrank {
namespace {

using nlohmann::json;

// The format is little-endian; lengths and floats are copied unchanged.
static_assert(std::endian::native == std::endian::little);

constexpr char kMetadataMember[] = "__metadata__";
constexpr std::size_t kLengthBytes = sizeof(std::uint64_t);

// Size of a tensor's data. InvalidArgument for too many dimensions, a negative
// one, or a product beyond 64 bits; the message continues a sentence that began
// with the tensor's name.
absl::StatusOr<std::uint64_t> TensorBytes(
    const std::vector<std::int64_t>& shape, std::size_t element_bytes) {
  if (shape.size() > kMaxTensorDimensions) {
    return absl::InvalidArgumentError(
        absl::StrFormat("has %d dimensions; the limit is %d", shape.size(),
                        kMaxTensorDimensions));
  }
  std::uint64_t bytes = element_bytes;
  for (const std::int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(
                        bytes, static_cast<std::uint64_t>(size), &bytes)) {
      return absl::InvalidArgumentError("has an impossible shape");
    }
  }
  return bytes;
}

// Where a tensor lies in the data, in bytes.
struct Extent {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string name;
  bool is_int8 = false;
};

// The whole numbers of an array, each from 0 to INT64_MAX.
absl::StatusOr<std::vector<std::int64_t>> WholeNumbers(const json& tensor,
                                                       const char* member) {
  std::vector<std::int64_t> numbers;
  const auto array = tensor.find(member);
  bool good = array != tensor.end() && array->is_array() &&
              array->size() <= kMaxTensorDimensions;
  for (std::size_t i = 0; good && i < array->size(); ++i) {
    // The parser stores -1, 1.0 and 1e3 as other types.
    const auto* number = (*array)[i].get_ptr<const std::uint64_t*>();
    good = number != nullptr && *number <= INT64_MAX;
    if (good) numbers.push_back(static_cast<std::int64_t>(*number));
  }
  if (good) return numbers;
  return absl::InvalidArgumentError(absl::StrFormat(
      "has no %s of at most %d whole numbers", member, kMaxTensorDimensions));
}

// Sets shape and place of one tensor; its bytes lie inside `data_bytes`.
absl::Status ParseTensor(const json& tensor, std::uint64_t data_bytes,
                         TensorView& view, Extent& extent) {
  // Unknown members are errors: another reader might give them a meaning.
  if (!tensor.is_object() || tensor.size() != 3) {
    return absl::InvalidArgumentError(
        "does not state dtype, shape and data_offsets, and nothing else");
  }
  const auto dtype = tensor.find("dtype");
  if (dtype == tensor.end() || (*dtype != "F32" && *dtype != "I8")) {
    return absl::InvalidArgumentError("is not of dtype F32 or I8");
  }
  extent.is_int8 = *dtype == "I8";
  SEMRANK_ASSIGN_OR_RETURN(view.shape, WholeNumbers(tensor, "shape"));
  SEMRANK_ASSIGN_OR_RETURN(const std::vector<std::int64_t> offsets,
                           WholeNumbers(tensor, "data_offsets"));
  SEMRANK_ASSIGN_OR_RETURN(
      const std::uint64_t bytes,
      TensorBytes(view.shape,
                  extent.is_int8 ? sizeof(std::int8_t) : sizeof(float)));
  if (offsets.size() != 2 || offsets[0] > offsets[1]) {
    return absl::InvalidArgumentError("has no begin and end in data_offsets");
  }
  extent.begin = static_cast<std::uint64_t>(offsets[0]);
  extent.end = static_cast<std::uint64_t>(offsets[1]);
  if (extent.end > data_bytes || extent.end - extent.begin != bytes) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "takes %d bytes by its shape, but bytes %d to %d of %d by its offsets",
        bytes, extent.begin, extent.end, data_bytes));
  }
  return absl::OkStatus();
}

// Tensors lie one after another and fill the data: with overlaps one tensor
// would change with another, and gaps could hide bytes.
absl::Status CheckNoGaps(std::vector<Extent> extents,
                         std::uint64_t data_bytes) {
  std::sort(extents.begin(), extents.end(),
            [](const Extent& a, const Extent& b) {
              return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
            });
  std::uint64_t end = 0;
  for (const Extent& extent : extents) {
    if (extent.begin != end) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "tensor \"%s\" begins at byte %d of the data, the one before ends at "
          "%d",
          extent.name, extent.begin, end));
    }
    end = extent.end;
  }
  if (end == data_bytes) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "the data has %d bytes, the tensors end at %d", data_bytes, end));
}

struct HeaderAndData {
  std::string_view header;
  std::string_view data;
};

absl::StatusOr<HeaderAndData> Split(std::string_view content) {
  std::uint64_t length = 0;
  if (content.size() < kLengthBytes) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%d bytes are too few", content.size()));
  }
  std::memcpy(&length, content.data(), kLengthBytes);
  content.remove_prefix(kLengthBytes);
  if (length > kMaxSafetensorsHeaderBytes || length > content.size()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "the header's length %d is above the limit of %d or the %d bytes left",
        length, kMaxSafetensorsHeaderBytes, content.size()));
  }
  // Floats are used in place, so the data must be aligned for them. (LoadedFile
  // aligns the content to a page.)
  if (length % sizeof(float) != 0) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "the header's length %d leaves the data unaligned", length));
  }
  return HeaderAndData{content.substr(0, length), content.substr(length)};
}

absl::StatusOr<json> ParseHeader(std::string_view text) {
  SEMRANK_ASSIGN_OR_RETURN(json header, ParseStrictJson(text));
  // The format demands the brace at once; JSON would allow blanks first.
  if (header.is_object() && text.starts_with('{')) return header;
  return absl::InvalidArgumentError("the header is not a JSON object");
}

absl::StatusOr<SafetensorsMetadata> MetadataOf(const json& header) {
  SafetensorsMetadata metadata;
  const auto found = header.find(kMetadataMember);
  if (found == header.end()) return metadata;
  if (!found->is_object()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s is %s, not an object of texts", kMetadataMember,
                        found->type_name()));
  }
  for (const auto& [name, value] : found->items()) {
    if (!value.is_string()) {
      return absl::InvalidArgumentError(
          absl::StrFormat("metadata \"%s\" is not a text", name));
    }
    metadata[name] = value.get<std::string>();
  }
  return metadata;
}

absl::StatusOr<SafetensorsMetadata> ParseMetadata(std::string_view content) {
  SEMRANK_ASSIGN_OR_RETURN(const HeaderAndData parts, Split(content));
  SEMRANK_ASSIGN_OR_RETURN(const json header, ParseHeader(parts.header));
  return MetadataOf(header);
}

absl::StatusOr<std::map<std::string, TensorView>> Parse(
    std::string_view content) {
  SEMRANK_ASSIGN_OR_RETURN(const HeaderAndData parts, Split(content));
  SEMRANK_ASSIGN_OR_RETURN(const json header, ParseHeader(parts.header));
  SEMRANK_RETURN_IF_ERROR(MetadataOf(header).status());
  std::map<std::string, TensorView> tensors;
  std::vector<Extent> extents;
  for (const auto& [name, value] : header.items()) {
    if (name == kMetadataMember) continue;
    TensorView view = {.name = name, .shape = {}, .data = nullptr};
    Extent extent = {.begin = 0, .end = 0, .name = name};
    absl::Status status = ParseTensor(value, parts.data.size(), view, extent);
    if (!status.ok()) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "tensor \"%s\" %s", name, std::string(status.message())));
    }
    // CheckNoGaps follows, so this is true for every valid file; but the
    // pointer must not be formed before the check.
    const char* const begin = parts.data.data() + extent.begin;
    if (extent.is_int8) {
      view.int8_data = reinterpret_cast<const std::int8_t*>(begin);
    } else if (extent.begin % sizeof(float) == 0) {
      view.data = reinterpret_cast<const float*>(begin);
    } else {
      return absl::InvalidArgumentError(
          absl::StrFormat("tensor \"%s\" is not aligned", name));
    }
    extents.push_back(std::move(extent));
    tensors.emplace(name, std::move(view));
  }
  SEMRANK_RETURN_IF_ERROR(CheckNoGaps(std::move(extents), parts.data.size()));
  return tensors;
}

// Returns `parsed`, with an error as DataLoss that names the file.
template <typename T>
absl::StatusOr<T> OrDataLoss(std::string_view path, absl::StatusOr<T> parsed) {
  if (parsed.ok()) return parsed;
  return absl::DataLossError(
      absl::StrFormat("%s: %s", path, std::string(parsed.status().message())));
}

// A cache line, and the widest SIMD register.
constexpr std::size_t kDataAlignment = 64;

// Length and header, padded so that the data is aligned.
absl::StatusOr<std::string> FormatHeader(std::span<const TensorView> tensors,
                                         const SafetensorsMetadata& metadata) {
  // An ordered object lists tensors in the order of their data.
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header[kMetadataMember] = metadata;
  std::uint64_t end = 0;
  for (const TensorView& tensor : tensors) {
    const bool is_int8 = tensor.int8_data != nullptr;
    SEMRANK_ASSIGN_OR_RETURN(
        const std::uint64_t bytes,
        TensorBytes(tensor.shape,
                    is_int8 ? sizeof(std::int8_t) : sizeof(float)));
    if (tensor.name == kMetadataMember || header.contains(tensor.name)) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "tensor name \"%s\" is reserved or repeated", tensor.name));
    }
    const std::uint64_t begin = end;
    if (__builtin_add_overflow(begin, bytes, &end)) {
      return absl::InvalidArgumentError("tensors are too large together");
    }
    header[tensor.name] = {{"dtype", is_int8 ? "I8" : "F32"},
                           {"shape", tensor.shape},
                           {"data_offsets", {begin, end}}};
  }
  // Without ensure_ascii and replace, dump would throw for a name or remark
  // that is not valid UTF-8.
  std::string text = header.dump(/*indent=*/-1, ' ', /*ensure_ascii=*/true,
                                 nlohmann::json::error_handler_t::replace);
  // Blanks after the object are valid JSON and ignored.
  text.resize((kLengthBytes + text.size() + kDataAlignment - 1) /
                      kDataAlignment * kDataAlignment -
                  kLengthBytes,
              ' ');
  if (text.size() > kMaxSafetensorsHeaderBytes) {
    return absl::InvalidArgumentError(
        absl::StrFormat("the header would have %d bytes; the limit is %d",
                        text.size(), kMaxSafetensorsHeaderBytes));
  }
  const std::uint64_t length = text.size();
  char prefix[kLengthBytes];
  std::memcpy(prefix, &length, kLengthBytes);
  return std::string(prefix, kLengthBytes) + text;
}

std::size_t NumElements(const TensorView& tensor) {
  return static_cast<std::size_t>(
      std::accumulate(tensor.shape.begin(), tensor.shape.end(), std::int64_t{1},
                      std::multiplies<>()));
}

}  // namespace

std::span<const float> TensorView::values() const {
  if (int8_data != nullptr) return {};
  return {data, NumElements(*this)};
}

std::string_view TensorView::bytes() const {
  if (int8_data != nullptr) {
    return {reinterpret_cast<const char*>(int8_data), NumElements(*this)};
  }
  return {reinterpret_cast<const char*>(data), values().size_bytes()};
}

absl::StatusOr<std::map<std::string, TensorView>> ParseSafetensors(
    std::string_view content, std::string_view path) {
  return OrDataLoss(path, Parse(content));
}

absl::StatusOr<SafetensorsMetadata> ParseSafetensorsMetadata(
    std::string_view content, std::string_view path) {
  return OrDataLoss(path, ParseMetadata(content));
}

absl::Status WriteSafetensors(const std::string& path,
                              std::span<const TensorView> tensors,
                              const SafetensorsMetadata& metadata) {
  SEMRANK_ASSIGN_OR_RETURN(const std::string header,
                           FormatHeader(tensors, metadata));
  SEMRANK_ASSIGN_OR_RETURN(FileReplacement file, FileReplacement::Create(path));
  // Weights go from memory to the file directly; they may be gigabytes.
  SEMRANK_RETURN_IF_ERROR(file.Write(header));
  for (const TensorView& tensor : tensors) {
    SEMRANK_RETURN_IF_ERROR(file.Write(tensor.bytes()));
  }
  return file.Commit();
}

}  // namespace semrank
