// Reads the titles, queries or other texts that a command works on.
#ifndef SEMRANK_MODEL_DATA_TEXT_READER_H_
#define SEMRANK_MODEL_DATA_TEXT_READER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/data/document_reader.h"

namespace semrank {

struct TextList {
  std::vector<std::string> texts;
  // Empty if no text has an id; else parallel to `texts`, "" for none.
  std::vector<std::string> ids;
  // Lines of the file that could not be used.
  std::int64_t num_skipped_lines = 0;

  std::string_view id(std::size_t i) const {
    return ids.empty() ? std::string_view() : ids[i];
  }
};

// All texts of a file, which are the titles of its documents. Prints on
// standard error how many lines were skipped. Fails as DocumentReader.
absl::StatusOr<TextList> ReadTexts(const std::string& path,
                                   const DocumentReaderOptions& options);

}  // namespace semrank

#endif  // SEMRANK_MODEL_DATA_TEXT_READER_H_
