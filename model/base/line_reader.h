// Reads text files line by line: plain, gzip (.gz) or Zstandard (.zst), told
// apart by their first bytes, so that a wrong suffix does no harm. "-" is
// standard input.
//
//   Lines    end in "\n" or "\r\n", which is taken off; the last one may lack
//            it. A UTF-8 byte order mark at the start of the file is taken
//            off. Memory is bounded by the longest line allowed.
//   Threads  one reader, one thread.
//   Errors   NotFound and the like from opening; DataLoss for a damaged or
//            cut compressed stream; all with the file's name. Lines before
//            the damage are handed out first.
#ifndef SEMRANK_MODEL_BASE_LINE_READER_H_
#define SEMRANK_MODEL_BASE_LINE_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace semrank {

class LineReader {
 public:
  static constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;

  static absl::StatusOr<std::unique_ptr<LineReader>> Open(
      const std::string& path);
  virtual ~LineReader() = default;

  // False at the end of the file. `line` stays valid until the next call. A
  // line of more than kMaxLineBytes is handed out cut to that size, once.
  virtual absl::StatusOr<bool> Next(std::string_view& line) = 0;

  // Number of the line handed out last; the first is 1.
  virtual std::int64_t line_number() const = 0;
  // As given to Open.
  virtual const std::string& path() const = 0;
  // How much of the file's bytes (before decompression) were read, in [0, 1];
  // 0 when unknown. For progress bars.
  virtual double fraction_read() const = 0;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_BASE_LINE_READER_H_
