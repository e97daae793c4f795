// Reads an input file line by line, and limits how many of its lines may be
// unusable.
#ifndef SEMRANK_MODEL_DATA_INPUT_LINES_H_
#define SEMRANK_MODEL_DATA_INPUT_LINES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"

namespace semrank {

// Counts lines that cannot be used and prints where the first ones are. One
// object serves all files of a run; it is not thread-safe.
class BadLines {
 public:
  // The default of --max_bad_lines of the programs that read collections.
  static constexpr std::int64_t kDefaultMax = 100;

  // `max_bad_lines`: how many may be skipped in all files together; 0 = none.
  explicit BadLines(std::int64_t max_bad_lines)
      : max_bad_lines_(max_bad_lines) {}

  // Counts one line, or a record of several, and prints "path:line: reason" to
  // standard error for the first few. InvalidArgument, naming file, line,
  // reason and the flag --max_bad_lines, once the limit is exceeded.
  absl::Status Add(std::string_view path, std::int64_t line_number,
                   std::string_view reason, std::int64_t num_lines = 1);

  std::int64_t count() const { return count_; }

 private:
  std::int64_t max_bad_lines_;
  std::int64_t count_ = 0;
  std::int64_t num_printed_ = 0;
};

// Why a line cannot be used; an empty reason if it can.
struct LineProblem {
  LineProblem(std::string why = "",  // NOLINT(google-explicit-constructor)
              bool refuses = false)
      : reason(std::move(why)), refuses_file(refuses) {}

  std::string reason;
  // Skipping the line would make the rest of the file mean something else, so
  // the file is refused, whatever --max_bad_lines says.
  bool refuses_file;
};

// Calls use(line) for each line of a file in one of LineReader's formats.
// InvalidArgument, naming file, line and reason, for a line that refuses the
// file.
absl::Status ForEachLine(
    const std::string& path, BadLines& bad_lines,
    const std::function<LineProblem(std::string_view line)>& use);

// Whether a line of qrels or of a run begins with "#" after blanks: a comment,
// as in trec_eval.
bool IsTrecComment(std::string_view line);

// Calls use(normalised text) for each line; lines that are not UTF-8 are bad.
absl::Status ForEachText(
    const std::string& path, BadLines& bad_lines,
    const std::function<void(const std::string& normalized)>& use);

}  // namespace semrank

#endif  // SEMRANK_MODEL_DATA_INPUT_LINES_H_
