// One interface over the streaming decoders of zlib and zstd.
#ifndef SEMRANK_MODEL_BASE_DECODER_H_
#define SEMRANK_MODEL_BASE_DECODER_H_

#include <cstddef>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"

namespace semrank {

class Decoder {
 public:
  // Null when `head`, at least the first four bytes of a file if it has as
  // many, begins no format that is known: the file is taken as it is.
  static std::unique_ptr<Decoder> ForFormatOf(std::string_view head);
  virtual ~Decoder() = default;

  // Takes bytes off the front of `input` and returns how many it wrote to
  // `buffer`. May take or write nothing, when it wants more input.
  // DataLoss (without the file's name) for a damaged stream.
  virtual absl::StatusOr<std::size_t> Decode(std::string_view& input,
                                             char* buffer,
                                             std::size_t capacity) = 0;
  // True before the first byte and after a complete member or frame: the
  // file may end here.
  virtual bool between_streams() const = 0;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_BASE_DECODER_H_
