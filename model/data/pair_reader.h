// Reads clicked (query, title) pairs from click logs.
//
//   Line     query TAB title [TAB clicks [TAB impressions [TAB position]]];
//            clicks and impressions are whole numbers from 0, clicks 1 if not
//            there. `position` is that of the title in the lists that were
//            shown, a whole number from 1.
//            Columns follow the title, so that a further tab is an error here,
//            where it belongs to the title in a file of documents.
//   Texts    normalised by the reader.
//   Skipped  pairs with 0 clicks (shown, not chosen) unless PairLines asks for
//            them. They are counted.
//   Judged   files of graded titles are read too; there the third field is a
//            grade.
//   Wordless pairs with a text that has neither letters nor numbers are
//            skipped and counted: nothing can be learned from them.
//   Errors   BadLines counts lines with a wrong number of fields, a count that
//            is not a number, a text that is not UTF-8 or too long, a header
//            line, and lines of ProblemOfBytes. Empty lines are skipped.
//            Ctrl-C ends reading with Cancelled.
#ifndef SEMRANK_MODEL_DATA_PAIR_READER_H_
#define SEMRANK_MODEL_DATA_PAIR_READER_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/base/line_reader.h"
#include "model/data/input_lines.h"
#include "model/text/normalizer.h"

namespace semrank {

struct ClickPair {
  std::string query;
  std::string title;
  std::int64_t clicks = 1;
  std::int64_t impressions = 0;  // 0 = not given
  std::int64_t position = 0;     // 0 = not given
};

inline constexpr std::int64_t kNoTextLimit =
    std::numeric_limits<std::int64_t>::max();

enum class PairLines {
  kClicked,  // those with at least one click
  kAll,      // also those with 0 clicks
  kJudged,   // query TAB title TAB grade; `clicks` holds the grade
};

// How often programs show how far they have read: the bar needs more time than
// a pair.
inline constexpr std::int64_t kPairsPerUpdate = 1'024;

// How texts are read.
struct PairTexts {
  // A text of more bytes after normalising makes a bad line.
  std::int64_t max_bytes = kNoTextLimit;
  int normalizer_version = kNormalizerVersion;
};

class PairReader {
 public:
  // Reads the files one after another. `bad_lines` outlives the reader.
  PairReader(std::vector<std::string> paths, PairLines lines,
             BadLines& bad_lines, const PairTexts& texts = {});

  // False at the end of the last file.
  absl::StatusOr<bool> Next(ClickPair& pair);

  // Share of the files' bytes that was read; 0 if one of them is a pipe.
  double fraction_read() const;
  // "path:line" of the pair that Next has returned.
  std::string Place() const;
  std::int64_t num_lines() const { return num_lines_; }
  std::int64_t num_without_clicks() const { return num_without_clicks_; }
  std::int64_t num_without_words() const { return num_without_words_; }
  // The pairs that Next has returned, and those of them without a position.
  std::int64_t num_pairs() const { return num_pairs_; }
  std::int64_t num_without_position() const { return num_without_position_; }

 private:
  // Returns true if `line` has a pair to return, and stores it in `pair`.
  absl::StatusOr<bool> ParseLine(std::string_view line, ClickPair& pair);

  std::vector<std::string> paths_;
  PairLines lines_;
  std::int64_t num_bytes_;  // of all files; 0 = unknown
  std::size_t next_path_ = 0;
  std::int64_t num_bytes_before_ = 0;  // of the files that are done
  std::unique_ptr<LineReader> file_;
  BadLines& bad_lines_;
  std::int64_t num_lines_ = 0;
  std::int64_t num_without_clicks_ = 0;
  std::int64_t num_without_words_ = 0;
  std::int64_t num_pairs_ = 0;
  std::int64_t num_without_position_ = 0;
  PairTexts texts_;
};

// Parses one line. InvalidArgument with the reason if it cannot be used;
// OutOfRange for a text without letters and numbers.
absl::Status ParsePair(std::string_view line, PairLines lines, ClickPair& pair,
                       const PairTexts& texts = {});
// The clicks of a line, or 1 if they are missing or cannot be read. Does not
// look at the texts.
std::int64_t ClicksOf(std::string_view line);

}  // namespace semrank

#endif  // SEMRANK_MODEL_DATA_PAIR_READER_H_
