// Reads the titles, queries or other texts that a command works on.
#ifndef SEMRANK_CLIENT_INPUT_TEXT_READER_H_
#define SEMRANK_CLIENT_INPUT_TEXT_READER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "client/input/shard.h"
#include "model/base/line_reader.h"
#include "model/data/input_lines.h"

namespace semrank {

// Why a line of a text file must be skipped: too long or not UTF-8. Empty if it
// is good.
std::string ProblemOfLine(std::string_view line);

struct TextList {
  std::vector<std::string> texts;
  // Empty if no text has an id; else parallel to `texts`, "" for none.
  std::vector<std::string> ids;

  std::string_view id(std::size_t i) const {
    return ids.empty() ? std::string_view() : ids[i];
  }
};

// A part of a file, at most 20,000 texts or 16 MiB: seconds of work, little
// memory.
struct TextBlock {
  TextList list;                    // every text has an id
  std::vector<std::int64_t> lines;  // line numbers of the texts, from 1

  bool empty() const { return lines.empty(); }
};

// A line of a file. The views are valid until the next line is read.
struct TextLine {
  std::int64_t number = 0;  // from 1
  std::optional<std::string_view> id;
  std::string_view text;
};

struct ReadTextsOptions {
  // Lines that may be skipped because they are not UTF-8 or too long.
  std::int64_t max_bad_lines = 0;
  // Skip empty lines instead of reading them as the empty text.
  bool skip_empty_lines = false;
  // Ignore this many lines at the beginning, and the lines of other shards.
  std::int64_t num_lines_before = 0;
  Shard shard = {};
};

// Reads the texts of a file one by one.
//
//   Lines    "text" or "id<TAB>text"; further tabs belong to the text. The file
//            is plain or compressed; "-" is standard input.
//   Errors   those of LineReader; InvalidArgument for too many bad lines.
//   Threads  not thread-safe.
class TextReader {
 public:
  static absl::StatusOr<std::unique_ptr<TextReader>> Open(
      const std::string& path, const ReadTextsOptions& options);

  // False at the end of the file.
  absl::StatusOr<bool> Next(TextLine& line);

  // The next texts with their ids, as `id_of` returns them; empty at the end.
  using IdOfLine = std::function<absl::StatusOr<std::string>(const TextLine&)>;
  absl::StatusOr<TextBlock> NextBlock(const IdOfLine& id_of);

  // Number of the last line read, skipped ones included; 0 before the first.
  std::int64_t line_number() const { return reader_->line_number(); }
  std::int64_t num_bad_lines() const { return bad_lines_.count(); }

 private:
  TextReader(std::unique_ptr<LineReader> reader,
             const ReadTextsOptions& options);

  const std::unique_ptr<LineReader> reader_;
  const ReadTextsOptions options_;
  BadLines bad_lines_;
};

// All texts of a file.
absl::StatusOr<TextList> ReadTexts(const std::string& path,
                                   const ReadTextsOptions& options);

// Whether `path` is a file that can be read twice, unlike a pipe.
bool IsRereadable(const std::string& path);

// The number of lines of the shard; 0 if the file is not rereadable.
absl::StatusOr<std::int64_t> CountLines(const std::string& path,
                                        const Shard& shard);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_INPUT_TEXT_READER_H_
