// The bytes of a file after decompression: plain, gzip or Zstandard, told
// apart by their first bytes.
//
//   Streams  several gzip members or Zstandard frames one after the other are
//            one text.
//   Size     about 64 KiB, plus the decoder's window (32 KiB for gzip, what
//            the file asks for, at most 128 MiB, for Zstandard).
//   Threads  one source, one thread.
//   Errors   the system's on opening and reading; DataLoss for a damaged or
//            cut stream; ResourceExhausted for a larger window.
#ifndef SEMRANK_MODEL_BASE_BYTE_SOURCE_H_
#define SEMRANK_MODEL_BASE_BYTE_SOURCE_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace semrank {

class ByteSource {
 public:
  // "-" is standard input.
  static absl::StatusOr<std::unique_ptr<ByteSource>> Open(
      const std::string& path);
  virtual ~ByteSource() = default;

  // Up to `capacity` > 0 bytes; 0 only at the end.
  virtual absl::StatusOr<std::size_t> Read(char* buffer,
                                           std::size_t capacity) = 0;
  // Share of the file's own bytes that were read, in [0, 1]; 0 when unknown.
  virtual double fraction_read() const = 0;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_BASE_BYTE_SOURCE_H_
