#include "model/base/byte_source.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/decoder.h"
#include "model/base/file_descriptor.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"

namespace semrank {
namespace {

class FileSource : public ByteSource {
 public:
  FileSource(FileDescriptor file, std::optional<std::size_t> size)
      : file_(std::move(file)), size_(size) {}

  // Reads the first bytes and chooses the decoder.
  absl::Status Start() {
    constexpr std::size_t kMagicBytes = 4;
    while (unread_.size() < kMagicBytes && !at_end_) {
      SEMRANK_RETURN_IF_ERROR(ReadMore());
    }
    decoder_ = Decoder::ForFormatOf(unread_);
    return absl::OkStatus();
  }

  absl::StatusOr<std::size_t> Read(char* buffer,
                                   std::size_t capacity) override {
    return decoder_ == nullptr ? ReadPlain(buffer, capacity)
                               : ReadDecoded(buffer, capacity);
  }

  double fraction_read() const override {
    if (size_.value_or(0) == 0) return 0;
    return std::min(1.0, static_cast<double>(num_read_ - unread_.size()) /
                             static_cast<double>(*size_));
  }

 private:
  // Adds to `unread_`; sets `at_end_` when there is nothing more.
  absl::Status ReadMore() {
    std::memmove(buffer_.data(), unread_.data(), unread_.size());
    SEMRANK_ASSIGN_OR_RETURN(const std::size_t count,
                             file_.Read(buffer_.data() + unread_.size(),
                                        buffer_.size() - unread_.size()));
    at_end_ = count == 0;
    num_read_ += count;
    unread_ = std::string_view(buffer_.data(), unread_.size() + count);
    return absl::OkStatus();
  }

  absl::StatusOr<std::size_t> ReadPlain(char* buffer, std::size_t capacity) {
    if (unread_.empty() && !at_end_) SEMRANK_RETURN_IF_ERROR(ReadMore());
    const std::size_t count = unread_.copy(buffer, capacity);
    unread_.remove_prefix(count);
    return count;
  }

  absl::StatusOr<std::size_t> ReadDecoded(char* buffer, std::size_t capacity) {
    while (true) {
      // Also with no input left: the decoder may hold output back.
      absl::StatusOr<std::size_t> count =
          decoder_->Decode(unread_, buffer, capacity);
      if (!count.ok()) return Failed(count.status());
      if (*count > 0) return count;
      if (!unread_.empty()) continue;
      if (!at_end_) SEMRANK_RETURN_IF_ERROR(ReadMore());
      if (at_end_ && decoder_->between_streams()) return std::size_t{0};
      if (at_end_) {
        return Failed(absl::DataLossError("compressed data is cut short"));
      }
    }
  }

  absl::Status Failed(const absl::Status& status) const {
    return absl::Status(
        status.code(),
        ToAbsl(absl::StrFormat("%s: %s", file_.path(), status.message())));
  }

  FileDescriptor file_;
  std::optional<std::size_t> size_;
  std::array<char, 1 << 16> buffer_;
  std::string_view unread_{buffer_.data(), 0};
  std::size_t num_read_ = 0;
  bool at_end_ = false;
  std::unique_ptr<Decoder> decoder_;  // Null: plain.
};

}  // namespace

absl::StatusOr<std::unique_ptr<ByteSource>> ByteSource::Open(
    const std::string& path) {
  absl::StatusOr<FileDescriptor> file =
      path == "-" ? FileDescriptor::StandardInput()
                  : FileDescriptor::Open(path, O_RDONLY);
  if (!file.ok()) return file.status();
  SEMRANK_ASSIGN_OR_RETURN(const std::optional<std::size_t> size,
                           file->RegularFileSize());
  auto source = std::make_unique<FileSource>(*std::move(file), size);
  SEMRANK_RETURN_IF_ERROR(source->Start());
  return source;
}

}  // namespace semrank
