// The texts of a command, from a file or the command line, with the flags that
// say which lines are taken.
#ifndef SEMRANK_CLIENT_COMMANDS_TEXT_FLAGS_H_
#define SEMRANK_CLIENT_COMMANDS_TEXT_FLAGS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "client/input/text_reader.h"

namespace semrank {

struct TextSource {
  std::string_view flag;               // "titles", for messages
  std::string path;                    // its value; empty = not given
  std::vector<std::string> arguments;  // texts on the command line
  bool skip_empty_lines = false;       // as ReadTextsOptions
};

// --max_bad_lines.
absl::StatusOr<std::int64_t> MaxBadLinesFromFlags();

// The texts of the file, with --max_bad_lines, or of the arguments. UsageError
// if there are both or neither.
absl::StatusOr<TextList> TextsFromFlags(const TextSource& source);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_COMMANDS_TEXT_FLAGS_H_
