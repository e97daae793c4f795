#include "client/text_list.h"

#include <cstddef>
#include <memory>
#include <string_view>

#include "absl/strings/str_format.h"
#include "client/unicode.h"
#include "model/base/bad_lines.h"
#include "model/base/line_reader.h"
#include "model/base/program.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

// Empty if the line can be used.
std::string ProblemOf(std::string_view line) {
  // The reader cuts what is longer to this size.
  if (line.size() >= LineReader::kMaxLineBytes) {
    return absl::StrFormat("%d bytes or more", LineReader::kMaxLineBytes);
  }
  return IsValidUtf8(line) ? "" : "not valid UTF-8";
}

void Append(std::string_view line, TextList& list) {
  const std::size_t tab = line.find('\t');
  if (tab == std::string_view::npos) {
    if (!list.ids.empty()) list.ids.emplace_back();
    list.texts.emplace_back(line);
    return;
  }
  list.ids.resize(list.texts.size());  // the texts before had none
  list.ids.emplace_back(line.substr(0, tab));
  list.texts.emplace_back(line.substr(tab + 1));
}

}  // namespace

absl::StatusOr<TextList> ReadTexts(const std::string& path,
                                   const ReadTextsOptions& options) {
  SEMRANK_ASSIGN_OR_RETURN(const std::unique_ptr<LineReader> reader,
                           LineReader::Open(path));
  BadLines bad_lines(options.max_bad_lines);
  TextList list;
  std::string_view line;
  while (true) {
    SEMRANK_ASSIGN_OR_RETURN(const bool more, reader->Next(line));
    if (!more) return list;
    if (line.empty() && options.skip_empty_lines) continue;
    const std::string problem = ProblemOf(line);
    if (problem.empty()) {
      Append(line, list);
    } else {
      SEMRANK_RETURN_IF_ERROR(
          bad_lines.Add(path, reader->line_number(), problem));
    }
  }
}

absl::StatusOr<TextList> TakeTexts(const std::vector<std::string>& texts) {
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (IsValidUtf8(texts[i])) continue;
    return UsageError(absl::StrFormat("argument %d: not valid UTF-8", i + 1));
  }
  return TextList{texts, {}};
}

}  // namespace semrank
