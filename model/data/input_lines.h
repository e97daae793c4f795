// What all readers of files agree on: which lines none of them can use, how
// many of them may be skipped, and that their number is known.
#ifndef SEMRANK_MODEL_DATA_INPUT_LINES_H_
#define SEMRANK_MODEL_DATA_INPUT_LINES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace semrank {

class CommandLine;

// How many lines may be skipped: `lines` in all files together, and `share` of
// the lines of each file. As text "100", "5%", or both, "100,50%".
struct BadLineLimit {
  std::int64_t lines = 100;
  double share = 0.5;  // 1 = any

  BadLineLimit() = default;
  BadLineLimit(std::int64_t max_lines,  // NOLINT(google-explicit-constructor)
               double max_share = 1)
      : lines(max_lines), share(max_share) {}
  friend bool operator==(const BadLineLimit&, const BadLineLimit&) = default;
};
// --max_bad_lines, in the current group.
void AddBadLinesFlag(CommandLine& command_line, BadLineLimit* limit);

// Counts lines that cannot be used and reports where the first ones are. One
// object serves all files of a run, one after another; it is not thread-safe.
class BadLines {
 public:
  using Report = void (*)(std::string_view text);

  // `num_before` lines were skipped by an earlier run. `report` takes a line of
  // text without line break; null = standard error.
  explicit BadLines(BadLineLimit limit, std::int64_t num_before = 0,
                    Report report = nullptr)
      : limit_(limit), count_(num_before), report_(report) {}

  // Counts one line, or a record of several, and reports "path:line: reason"
  // for the first few. InvalidArgument, naming file, line, reason and the flag
  // --max_bad_lines, once the limit of lines is exceeded.
  absl::Status Add(std::string_view path, std::int64_t line_number,
                   std::string_view reason, std::int64_t num_lines = 1);
  // Each reader calls this at the end of a file. InvalidArgument if more than
  // the allowed share of its lines was bad.
  absl::Status EndFile(std::string_view path, std::int64_t num_lines);

  std::int64_t count() const { return count_; }
  // Before files are read once more: their bad lines count again from `count`
  // on. Lines that were reported are not reported again.
  void CountAgainFrom(std::int64_t count) {
    count_before_file_ = count_ = count;
  }

 private:
  BadLineLimit limit_;
  std::int64_t count_;
  std::int64_t count_before_file_ = 0;
  std::vector<std::string> reported_;
  Report report_;
};

// Why no reader can use a line; empty if it can. ProblemOfBytes finds lines
// that LineReader has truncated and NUL bytes, which a file of other encoding
// or of no text has; ProblemOfLine also what is not UTF-8.
std::string ProblemOfBytes(std::string_view line);
std::string ProblemOfLine(std::string_view line);

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

// Calls use(line) for each line of a file in one of LineReader's formats, but
// for those of ProblemOfLine, which are bad. InvalidArgument, naming file, line
// and reason, for a line that refuses the file.
absl::Status ForEachLine(
    const std::string& path, BadLines& bad_lines,
    const std::function<LineProblem(std::string_view line)>& use);

// Whether `path` is a file that can be read twice, unlike a pipe.
bool IsRereadable(const std::string& path);
// The bytes of all files together; 0 if one of them is a pipe.
std::int64_t SizeOf(const std::vector<std::string>& paths);

// Whether a line of qrels or of a run begins with "#" after blanks: a comment,
// as in trec_eval.
bool IsTrecComment(std::string_view line);

// Calls use(normalised text) for each line.
absl::Status ForEachText(
    const std::string& path, int normalizer_version, BadLines& bad_lines,
    const std::function<void(const std::string& normalized)>& use);

}  // namespace semrank

#endif  // SEMRANK_MODEL_DATA_INPUT_LINES_H_
