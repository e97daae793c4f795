// Reads a file through decompression: plain, gzip or Zstandard, detected by the
// first bytes.
//
//   Streams  concatenated gzip members or Zstandard frames are one text. Zeros
//            after a gzip member are padding, as for gzip.
//   Memory   64 KiB and the decoder's window: 32 KiB for gzip, for Zstandard
//            what the file requests, at most 128 MiB.
//   Threads  not thread-safe.
//   Errors   the system's for opening and reading. DataLoss for corrupt or
//            truncated data, ResourceExhausted for a larger window, both with
//            the file's name.
//
// zlib and libzstd are called directly: libarchive 3.6 is as fast, but accepts
// gzip data with a wrong checksum, trailing garbage or a truncated second
// member without an error.
#ifndef SEMRANK_MODEL_BASE_BYTE_SOURCE_H_
#define SEMRANK_MODEL_BASE_BYTE_SOURCE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace semrank {

class ByteSource {
 public:
  // "-" is standard input.
  static absl::StatusOr<std::unique_ptr<ByteSource>> Open(
      const std::string& path);
  virtual ~ByteSource() = default;

  // Reads up to `capacity` > 0 bytes; 0 only at the end.
  virtual absl::StatusOr<std::size_t> Read(char* buffer,
                                           std::size_t capacity) = 0;
  // Fraction of the file's bytes (before decompression) that were read, in
  // [0, 1]; 0 when its size is unknown.
  virtual double fraction_read() const = 0;
  // How many of the bytes that Read returned, from the first on, belong to
  // complete streams, of which the checksums were right. All of a plain file.
  virtual std::size_t num_complete_bytes() const = 0;
  // After an error: whether the file only ends too early, inside a stream.
  virtual bool is_truncated() const = 0;
};

// Whether a file that starts with `head` is decompressed. Four bytes suffice.
bool IsCompressed(std::string_view head);

}  // namespace semrank

#endif  // SEMRANK_MODEL_BASE_BYTE_SOURCE_H_
