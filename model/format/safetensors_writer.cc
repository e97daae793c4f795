#include <fcntl.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "absl/strings/str_format.h"
#include "model/base/file_descriptor.h"
#include "model/base/file_replacement.h"
#include "model/base/status_macros.h"
#include "model/format/safetensors.h"
#include "model/format/safetensors_layout.h"
#include "model/format/safetensors_replacement.h"

namespace semrank {
namespace {

constexpr std::size_t kDataAlignment = 64;

// Length and header, padded so that the data is aligned.
absl::StatusOr<std::string> FormatHeader(std::span<const TensorView> tensors,
                                         const SafetensorsMetadata& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header[kSafetensorsMetadata] = metadata;
  std::uint64_t end = 0;
  for (const TensorView& tensor : tensors) {
    SEMRANK_ASSIGN_OR_RETURN(const std::uint64_t bytes,
                             TensorBytes(tensor.shape));
    if (tensor.name == kSafetensorsMetadata || header.contains(tensor.name)) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "tensor name \"%s\" is reserved or repeated", tensor.name));
    }
    const std::uint64_t begin = end;
    if (__builtin_add_overflow(begin, bytes, &end)) {
      return absl::InvalidArgumentError("tensors are too large together");
    }
    header[tensor.name] = {{"dtype", "F32"},
                           {"shape", tensor.shape},
                           {"data_offsets", {begin, end}}};
  }
  std::string text = header.dump(/*indent=*/-1, ' ', /*ensure_ascii=*/true,
                                 nlohmann::json::error_handler_t::replace);
  text.resize((kSafetensorsLengthBytes + text.size() + kDataAlignment - 1) /
                      kDataAlignment * kDataAlignment -
                  kSafetensorsLengthBytes,
              ' ');
  if (text.size() > kMaxSafetensorsHeaderBytes) {
    return absl::InvalidArgumentError(
        absl::StrFormat("the header would have %d bytes; the limit is %d",
                        text.size(), kMaxSafetensorsHeaderBytes));
  }
  const std::uint64_t length = text.size();
  char prefix[kSafetensorsLengthBytes];
  std::memcpy(prefix, &length, kSafetensorsLengthBytes);
  return std::string(prefix, kSafetensorsLengthBytes) + text;
}

// `file` is a FileDescriptor or a FileReplacement.
template <typename File>
absl::Status WriteTo(const File& file, std::string_view header,
                     std::span<const TensorView> tensors) {
  SEMRANK_RETURN_IF_ERROR(file.Write(header));
  for (const TensorView& tensor : tensors) {
    SEMRANK_ASSIGN_OR_RETURN(const std::uint64_t bytes,
                             TensorBytes(tensor.shape));
    SEMRANK_RETURN_IF_ERROR(file.Write(
        std::string_view(reinterpret_cast<const char*>(tensor.data), bytes)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteSafetensors(const std::string& path,
                              std::span<const TensorView> tensors,
                              const SafetensorsMetadata& metadata) {
  SEMRANK_ASSIGN_OR_RETURN(const std::string header,
                           FormatHeader(tensors, metadata));
  SEMRANK_ASSIGN_OR_RETURN(
      const FileDescriptor file,
      FileDescriptor::Open(path, O_WRONLY | O_CREAT | O_TRUNC));
  SEMRANK_RETURN_IF_ERROR(WriteTo(file, header, tensors));
  return file.Sync();
}

absl::Status ReplaceSafetensors(const std::string& path,
                                std::span<const TensorView> tensors,
                                const SafetensorsMetadata& metadata) {
  SEMRANK_ASSIGN_OR_RETURN(const std::string header,
                           FormatHeader(tensors, metadata));
  SEMRANK_ASSIGN_OR_RETURN(FileReplacement file, FileReplacement::Create(path));
  SEMRANK_RETURN_IF_ERROR(WriteTo(file, header, tensors));
  return file.Commit();
}

}  // namespace semrank
