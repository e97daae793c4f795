// The titles, queries or other texts that a command works on.
#ifndef SEMRANK_CLIENT_TEXT_LIST_H_
#define SEMRANK_CLIENT_TEXT_LIST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

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
};

// Reads a file of lines "text" or "id<TAB>text", plain or compressed; "-" is
// standard input. Further tabs belong to the text. Errors as LineReader's;
// InvalidArgument for too many bad lines.
absl::StatusOr<TextList> ReadTexts(const std::string& path,
                                   const ReadTextsOptions& options);

// Texts from the command line, as they are. UsageError naming the first that is
// not UTF-8.
absl::StatusOr<TextList> TakeTexts(const std::vector<std::string>& texts);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_TEXT_LIST_H_
