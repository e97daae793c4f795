// Reads text files line by line: plain, gzip (.gz) or Zstandard (.zst),
// detected by the first bytes, not by the name. "-" is standard input.
//
//   Lines    end in "\n" or "\r\n", which is removed; the last line may lack
//            both. A UTF-8 byte order mark at the start of the file is removed.
//   Memory   bounded by kMaxLineBytes and the decoder's window.
//   Threads  not thread-safe.
//   Errors   as ByteSource, with the file's name. Lines before a corrupt part
//            are returned first. InvalidArgument, with the remedy, for a text
//            in UTF-16 or UTF-32.
#ifndef SEMRANK_MODEL_BASE_LINE_READER_H_
#define SEMRANK_MODEL_BASE_LINE_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace semrank {

// What editors on Windows put before UTF-8.
inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// `text` without the mark that it may begin with.
inline std::string_view WithoutByteOrderMark(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) {
    text.remove_prefix(kByteOrderMark.size());
  }
  return text;
}

class LineReader {
 public:
  static constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;

  static absl::StatusOr<std::unique_ptr<LineReader>> Open(
      const std::string& path);
  virtual ~LineReader() = default;

  // False at the end of the file. `line` is valid until the next call. A longer
  // line than kMaxLineBytes is returned once, truncated to that size.
  virtual absl::StatusOr<bool> Next(std::string_view& line) = 0;

  // Number of the last line returned; the first is 1.
  virtual std::int64_t line_number() const = 0;
  // As given to Open.
  virtual const std::string& path() const = 0;
  // As ByteSource's; for progress bars.
  virtual double fraction_read() const = 0;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_BASE_LINE_READER_H_
