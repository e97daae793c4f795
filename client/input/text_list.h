// The titles, queries or other texts that a command works on.
#ifndef SEMRANK_CLIENT_INPUT_TEXT_LIST_H_
#define SEMRANK_CLIENT_INPUT_TEXT_LIST_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/input/shard.h"
#include "model/base/bad_lines.h"
#include "model/base/line_reader.h"

namespace semrank {

struct TextList {
  std::vector<std::string> texts;
  // Empty when no text has an id; else parallel to `texts`, "" for none.
  std::vector<std::string> ids;
};

struct ReadTextsOptions {
  // Lines that may be skipped: not UTF-8, or longer than LineReader takes.
  std::int64_t max_bad_lines = 0;
  // A line without any character is left out instead of being the empty text.
  bool skip_empty_lines = false;
  // Lines that are not looked at: those before, and those of other shards.
  std::int64_t num_lines_before = 0;
  Shard shard = {};
};

// A text of a file. The views are valid until the next one is read.
struct TextLine {
  std::int64_t number = 0;  // of the line, from 1
  std::optional<std::string_view> id;
  std::string_view text;
};

// Reads the texts of a file one by one.
//
//   Lines    "text" or "id<TAB>text", further tabs belong to the text; the
//            file is plain or compressed, "-" is standard input.
//   Errors   as LineReader's; InvalidArgument for too many bad lines.
//   Threads  one reader, one thread.
class TextReader {
 public:
  static absl::StatusOr<std::unique_ptr<TextReader>> Open(
      const std::string& path, const ReadTextsOptions& options);

  // False at the end of the file.
  absl::StatusOr<bool> Next(TextLine& line);

  // Of the line that was read last, whatever came of it; 0 before the first.
  std::int64_t line_number() const { return reader_->line_number(); }
  std::int64_t num_bad_lines() const { return bad_lines_.count(); }

 private:
  TextReader(std::unique_ptr<LineReader> reader,
             const ReadTextsOptions& options);

  const std::unique_ptr<LineReader> reader_;
  const ReadTextsOptions options_;
  BadLines bad_lines_;
};

// All texts of a file, as TextReader reads them.
absl::StatusOr<TextList> ReadTexts(const std::string& path,
                                   const ReadTextsOptions& options);

// Texts from the command line, as they are. UsageError naming the first that is
// not UTF-8.
absl::StatusOr<TextList> TakeTexts(const std::vector<std::string>& texts);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_INPUT_TEXT_LIST_H_
