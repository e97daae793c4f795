#include "model/base/byte_source.h"

#include <fcntl.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/file_descriptor.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"

namespace semrank {
namespace {

// Streaming decoder of one format.
class Decoder {
 public:
  virtual ~Decoder() = default;

  // Consumes bytes from the front of `input` and returns the number of bytes
  // written to `buffer`. May consume or write nothing when it needs more input.
  // DataLoss, without the file's name, for corrupt data.
  virtual absl::StatusOr<std::size_t> Decode(std::string_view& input,
                                             char* buffer,
                                             std::size_t capacity) = 0;
  // True before the first byte and after a complete member or frame: only here
  // may the file end.
  virtual bool between_streams() const = 0;
};

class GzipDecoder : public Decoder {
 public:
  GzipDecoder() {
    // zlib accepts gzip, and not its own format, if this is added to the
    // window bits.
    constexpr int kGzipOnly = 16;
    // Fails only when memory is exhausted.
    if (inflateInit2(&stream_, MAX_WBITS + kGzipOnly) != Z_OK) std::abort();
  }
  ~GzipDecoder() override { inflateEnd(&stream_); }

  absl::StatusOr<std::size_t> Decode(std::string_view& input, char* buffer,
                                     std::size_t capacity) override {
    // Tapes and block devices pad a file with zeros; gzip ignores them too.
    if (between_streams_ && any_stream_) {
      input.remove_prefix(
          std::min(input.find_first_not_of('\0'), input.size()));
      if (input.empty()) return std::size_t{0};
    }
    // zlib counts in 32 bits. The next call gets the rest.
    constexpr std::size_t kMax = std::numeric_limits<uInt>::max();
    const std::size_t offered = std::min(input.size(), kMax);
    const std::size_t wanted = std::min(capacity, kMax);
    // zlib does not write to its input; its API predates const.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
    stream_.avail_in = static_cast<uInt>(offered);
    stream_.next_out = reinterpret_cast<Bytef*>(buffer);
    stream_.avail_out = static_cast<uInt>(wanted);
    const int result = inflate(&stream_, Z_NO_FLUSH);
    const std::size_t taken = offered - stream_.avail_in;
    input.remove_prefix(taken);
    if (result == Z_STREAM_END) {
      inflateReset(&stream_);  // Another member may follow.
      between_streams_ = any_stream_ = true;
    } else if (result == Z_OK || result == Z_BUF_ERROR) {
      // Z_BUF_ERROR means no damage: inflate could not continue without more
      // input or more room. A call without input does not begin a member, so
      // the file may still end here.
      if (taken > 0) between_streams_ = false;
    } else {
      return absl::DataLossError(
          absl::StrFormat("corrupt gzip data: %s",
                          stream_.msg != nullptr ? stream_.msg : "bad stream"));
    }
    return wanted - stream_.avail_out;
  }

  bool between_streams() const override { return between_streams_; }

 private:
  z_stream stream_ = {};
  bool between_streams_ = true;
  bool any_stream_ = false;  // one has ended
};

class ZstdDecoder : public Decoder {
 public:
  ZstdDecoder() : stream_(ZSTD_createDStream()) {
    if (stream_ == nullptr) std::abort();  // No memory.
  }
  ~ZstdDecoder() override { ZSTD_freeDStream(stream_); }

  absl::StatusOr<std::size_t> Decode(std::string_view& input, char* buffer,
                                     std::size_t capacity) override {
    ZSTD_inBuffer in = {input.data(), input.size(), 0};
    ZSTD_outBuffer out = {buffer, capacity, 0};
    // At the end of a frame and without input, zstd would report that it waits
    // for the next frame, and a complete file would look truncated.
    if (input.empty() && between_streams_) return std::size_t{0};
    const std::size_t result = ZSTD_decompressStream(stream_, &out, &in);
    if (ZSTD_isError(result)) return Error(result);
    input.remove_prefix(in.pos);
    between_streams_ = result == 0;
    return out.pos;
  }

  bool between_streams() const override { return between_streams_; }

 private:
  static absl::Status Error(std::size_t result) {
    // zstd's default limit (ZSTD_WINDOWLOG_LIMIT_DEFAULT), which bounds our
    // memory for a file that asks for more. The data may be fine, so this is
    // not DataLoss.
    if (ZSTD_getErrorCode(result) == ZSTD_error_frameParameter_windowTooLarge) {
      return absl::ResourceExhaustedError(
          "Zstandard window larger than the 128 MiB allowed");
    }
    return absl::DataLossError(absl::StrFormat("corrupt Zstandard data: %s",
                                               ZSTD_getErrorName(result)));
  }

  ZSTD_DStream* stream_;
  bool between_streams_ = true;
};

bool IsGzip(std::string_view head) { return head.starts_with("\x1f\x8b"); }

bool IsZstd(std::string_view head) {
  if (head.starts_with("\x28\xb5\x2f\xfd")) return true;
  // pzstd begins with a skippable frame: magic number 0x184D2A50 to 0x184D2A5F.
  return head.size() >= 4 && (head[0] & 0xf0) == 0x50 &&
         head.substr(1, 3) == "\x2a\x4d\x18";
}

// Returns null if `head` starts neither format; the file is then read as it is.
std::unique_ptr<Decoder> MakeDecoder(std::string_view head) {
  if (IsGzip(head)) return std::make_unique<GzipDecoder>();
  if (IsZstd(head)) return std::make_unique<ZstdDecoder>();
  return nullptr;
}

class FileSource : public ByteSource {
 public:
  FileSource(FileDescriptor file, std::optional<std::size_t> size)
      : file_(std::move(file)), size_(size) {}

  // Reads the magic number and chooses the decoder.
  absl::Status Start() {
    constexpr std::size_t kMagicBytes = 4;
    while (unread_.size() < kMagicBytes && !at_end_) {
      SEMRANK_RETURN_IF_ERROR(ReadMore());
    }
    decoder_ = MakeDecoder(unread_);
    return absl::OkStatus();
  }

  absl::StatusOr<std::size_t> Read(char* buffer,
                                   std::size_t capacity) override {
    return decoder_ == nullptr ? ReadPlain(buffer, capacity)
                               : ReadDecoded(buffer, capacity);
  }

  std::size_t num_complete_bytes() const override {
    return num_complete_bytes_;
  }
  bool is_truncated() const override { return is_truncated_; }
  double fraction_read() const override {
    if (size_.value_or(0) == 0) return 0;
    return std::min(1.0, static_cast<double>(num_read_ - unread_.size()) /
                             static_cast<double>(*size_));
  }

 private:
  // Appends to `unread_`; sets `at_end_` at the end of the file.
  absl::Status ReadMore() {
    // Input remains only while Start collects the magic number, for instance
    // from a pipe that delivers single bytes.
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
    num_complete_bytes_ += count;
    return count;
  }

  absl::StatusOr<std::size_t> ReadDecoded(char* buffer, std::size_t capacity) {
    while (true) {
      // This call is made without input too, as the decoder may still
      // hold output.
      absl::StatusOr<std::size_t> count =
          decoder_->Decode(unread_, buffer, capacity);
      if (!count.ok()) return WithPath(count.status());
      num_decoded_ += *count;
      if (decoder_->between_streams()) num_complete_bytes_ = num_decoded_;
      // A decoder may consume input, such as a header, without any output. 0
      // would mean the end here, so read on.
      if (*count > 0) return count;
      if (!unread_.empty()) continue;
      if (!at_end_) SEMRANK_RETURN_IF_ERROR(ReadMore());
      if (at_end_ && decoder_->between_streams()) return std::size_t{0};
      if (at_end_) {
        is_truncated_ = true;
        return WithPath(absl::DataLossError("compressed data is truncated"));
      }
    }
  }

  absl::Status WithPath(const absl::Status& status) const {
    return absl::Status(
        status.code(),
        ToAbsl(absl::StrFormat("%s: %s", file_.path(), status.message())));
  }

  FileDescriptor file_;
  std::optional<std::size_t> size_;
  std::array<char, 1 << 16> buffer_;
  std::string_view unread_{buffer_.data(), 0};
  std::size_t num_read_ = 0;
  std::size_t num_decoded_ = 0;
  std::size_t num_complete_bytes_ = 0;
  bool at_end_ = false;
  bool is_truncated_ = false;
  std::unique_ptr<Decoder> decoder_;  // null for a plain file
};

}  // namespace

bool IsCompressed(std::string_view head) {
  return IsGzip(head) || IsZstd(head);
}

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
