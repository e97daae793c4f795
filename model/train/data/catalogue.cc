#include "model/train/data/catalogue.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/data/document_formats.h"
#include "model/data/text_reader.h"
#include "model/text/normalizer.h"

namespace semrank {

absl::StatusOr<std::vector<TextId>> ReadCatalogue(const DataOptions& options,
                                                  BadLines& bad_lines,
                                                  TextInterner& texts) {
  DocumentReaderOptions reader;
  reader.format = DocumentFormatOf(options.docs_file);
  reader.bad_lines = &bad_lines;
  SEMRANK_ASSIGN_OR_RETURN(const TextList documents,
                           ReadTexts(options.docs_file, reader));
  std::vector<TextId> titles;
  std::string normalized;
  for (const std::string& text : documents.texts) {
    SEMRANK_RETURN_IF_ERROR(
        NormalizeText(text, options.normalizer_version, normalized));
    // A title without letters and numbers has no trigram, so the lexical part
    // can never find it.
    if (!normalized.empty()) titles.push_back(texts.Intern(normalized));
  }
  std::ranges::sort(titles);
  titles.erase(std::unique(titles.begin(), titles.end()), titles.end());
  if (titles.size() >= 2) return titles;
  return absl::InvalidArgumentError(
      absl::StrFormat("%s has %d different titles; a catalogue has at least 2",
                      options.docs_file, titles.size()));
}

double ShareOfTitles(std::span<const TextId> catalogue,
                     std::span<const TextId> titles,
                     absl::FunctionRef<bool(TextId)> counts) {
  std::int64_t num_counted = 0, num_known = 0;
  for (const TextId title : catalogue) {
    // Titles that the sample of a stream cannot have say nothing about the log.
    if (!counts(title)) continue;
    ++num_counted;
    num_known += std::ranges::binary_search(titles, title) ? 1 : 0;
  }
  if (num_counted == 0) return 0;
  return static_cast<double>(num_known) / static_cast<double>(num_counted);
}

}  // namespace semrank
