#include "model/data/text_reader.h"

#include <cstdio>
#include <memory>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/count_text.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

// Ids are parallel to texts, or there are none at all.
void Append(FileDocument& document, TextList& list) {
  // Earlier texts had none.
  if (!document.id.empty()) list.ids.resize(list.texts.size());
  if (!document.id.empty() || !list.ids.empty()) {
    list.ids.push_back(std::move(document.id));
  }
  list.texts.push_back(std::move(document.title));
}

}  // namespace

absl::StatusOr<TextList> ReadTexts(const std::string& path,
                                   const DocumentReaderOptions& options) {
  SEMRANK_ASSIGN_OR_RETURN(const std::unique_ptr<DocumentReader> reader,
                           DocumentReader::Open(path, options));
  // Other files, or a run that this one continues, may have had bad lines.
  const std::int64_t num_before = reader->num_bad_lines();
  TextList list;
  while (true) {
    SEMRANK_ASSIGN_OR_RETURN(DocumentBlock block, reader->NextBlock());
    if (block.empty()) break;
    for (FileDocument& document : block.documents) Append(document, list);
  }
  list.num_skipped_lines = reader->num_bad_lines() - num_before;
  if (list.num_skipped_lines > 0) {
    absl::FPrintF(stderr, "%s: %s skipped\n", path,
                  CountText(list.num_skipped_lines, "line"));
  }
  return list;
}

}  // namespace semrank
