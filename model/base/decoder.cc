#include "model/base/decoder.h"

#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "absl/strings/str_format.h"

namespace semrank {
namespace {

class GzipDecoder : public Decoder {
 public:
  GzipDecoder() {
    constexpr int kGzipOnly = 16;
    // Can fail only for want of memory.
    if (inflateInit2(&stream_, MAX_WBITS + kGzipOnly) != Z_OK) std::abort();
  }
  ~GzipDecoder() override { inflateEnd(&stream_); }

  absl::StatusOr<std::size_t> Decode(std::string_view& input, char* buffer,
                                     std::size_t capacity) override {
    constexpr std::size_t kMax = std::numeric_limits<uInt>::max();
    const std::size_t offered = std::min(input.size(), kMax);
    const std::size_t wanted = std::min(capacity, kMax);
    // zlib does not write to its input; the type is from before const.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
    stream_.avail_in = static_cast<uInt>(offered);
    stream_.next_out = reinterpret_cast<Bytef*>(buffer);
    stream_.avail_out = static_cast<uInt>(wanted);
    const int result = inflate(&stream_, Z_NO_FLUSH);
    const std::size_t taken = offered - stream_.avail_in;
    input.remove_prefix(taken);
    if (result == Z_STREAM_END) {
      inflateReset(&stream_);  // Another member may follow.
      between_streams_ = true;
    } else if (result == Z_OK || result == Z_BUF_ERROR) {
      if (taken > 0) between_streams_ = false;
    } else {
      return absl::DataLossError(
          absl::StrFormat("damaged gzip data: %s",
                          stream_.msg != nullptr ? stream_.msg : "bad stream"));
    }
    return wanted - stream_.avail_out;
  }

  bool between_streams() const override { return between_streams_; }

 private:
  z_stream stream_ = {};
  bool between_streams_ = true;
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
    // Without input at a frame's end, zstd would say that it waits for the
    // next frame.
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
    if (ZSTD_getErrorCode(result) == ZSTD_error_frameParameter_windowTooLarge) {
      return absl::ResourceExhaustedError(
          "Zstandard window larger than the 128 MiB allowed");
    }
    return absl::DataLossError(absl::StrFormat("damaged Zstandard data: %s",
                                               ZSTD_getErrorName(result)));
  }

  ZSTD_DStream* stream_;
  bool between_streams_ = true;
};

bool IsGzip(std::string_view head) { return head.starts_with("\x1f\x8b"); }

bool IsZstd(std::string_view head) {
  if (head.starts_with("\x28\xb5\x2f\xfd")) return true;
  // A skippable frame, magic number 0x184D2A50 to 0x184D2A5F, may come first
  // (pzstd writes one).
  return head.size() >= 4 && (head[0] & 0xf0) == 0x50 &&
         head.substr(1, 3) == "\x2a\x4d\x18";
}

}  // namespace

std::unique_ptr<Decoder> Decoder::ForFormatOf(std::string_view head) {
  if (IsGzip(head)) return std::make_unique<GzipDecoder>();
  if (IsZstd(head)) return std::make_unique<ZstdDecoder>();
  return nullptr;
}

}  // namespace semrank
