// Counts bad input lines and prints where the first ones are; too many end the
// run.
//
//   Threads  not thread-safe.
#ifndef SEMRANK_MODEL_BASE_BAD_LINES_H_
#define SEMRANK_MODEL_BASE_BAD_LINES_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"

namespace semrank {

class BadLines {
 public:
  // `max_bad_lines`: how many may be skipped in all files together; 0 = none.
  explicit BadLines(std::int64_t max_bad_lines)
      : max_bad_lines_(max_bad_lines) {}

  // Counts one line and prints "path:line: reason" to standard error for the
  // first few. InvalidArgument, naming file, line, reason and the flag
  // --max_bad_lines, once the limit is exceeded.
  absl::Status Add(std::string_view path, std::int64_t line_number,
                   std::string_view reason);

  std::int64_t count() const { return count_; }

 private:
  std::int64_t max_bad_lines_;
  std::int64_t count_ = 0;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_BASE_BAD_LINES_H_
