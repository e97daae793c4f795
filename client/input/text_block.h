// The texts of a file of any size, a part at a time.
#ifndef SEMRANK_CLIENT_INPUT_TEXT_BLOCK_H_
#define SEMRANK_CLIENT_INPUT_TEXT_BLOCK_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/input/text_list.h"

namespace semrank {

// At most 20,000 texts or 16 MiB: seconds of work, and little to hold.
struct TextBlock {
  TextList list;                    // each text with its id
  std::vector<std::int64_t> lines;  // of each text, from 1

  bool empty() const { return lines.empty(); }
};

// The id of a line that may have none.
using IdOfLine = std::function<absl::StatusOr<std::string>(const TextLine&)>;

// The next texts; empty at the end. Errors as TextReader's and `id_of`'s.
absl::StatusOr<TextBlock> ReadTextBlock(TextReader& reader,
                                        const IdOfLine& id_of);

// Whether a path names a file, and no pipe.
bool CanBeReadAgain(const std::string& path);

// The shard's lines of a file; 0 = unknown, because it cannot be read again.
absl::StatusOr<std::int64_t> CountLines(const std::string& path,
                                        const Shard& shard);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_INPUT_TEXT_BLOCK_H_
