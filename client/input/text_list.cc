#include "client/input/text_list.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_format.h"
#include "client/input/unicode.h"
#include "model/base/status_macros.h"
#include "model/cli/program.h"

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

void Append(const TextLine& line, TextList& list) {
  if (line.id.has_value()) {
    list.ids.resize(list.texts.size());  // the texts before had none
    list.ids.emplace_back(*line.id);
  } else if (!list.ids.empty()) {
    list.ids.emplace_back();
  }
  list.texts.emplace_back(line.text);
}

}  // namespace

TextReader::TextReader(std::unique_ptr<LineReader> reader,
                       const ReadTextsOptions& options)
    : reader_(std::move(reader)),
      options_(options),
      bad_lines_(options.max_bad_lines) {}

absl::StatusOr<std::unique_ptr<TextReader>> TextReader::Open(
    const std::string& path, const ReadTextsOptions& options) {
  SEMRANK_ASSIGN_OR_RETURN(std::unique_ptr<LineReader> reader,
                           LineReader::Open(path));
  return std::unique_ptr<TextReader>(
      new TextReader(std::move(reader), options));
}

absl::StatusOr<bool> TextReader::Next(TextLine& line) {
  std::string_view all;
  while (true) {
    SEMRANK_ASSIGN_OR_RETURN(const bool more, reader_->Next(all));
    if (!more) return false;
    if (line_number() <= options_.num_lines_before ||
        !options_.shard.Has(line_number()) ||
        (all.empty() && options_.skip_empty_lines)) {
      continue;
    }
    const std::string problem = ProblemOf(all);
    if (problem.empty()) break;
    SEMRANK_RETURN_IF_ERROR(
        bad_lines_.Add(reader_->path(), line_number(), problem));
  }
  const std::size_t tab = all.find('\t');
  const bool has_id = tab != std::string_view::npos;
  line.number = line_number();
  line.id = has_id ? std::optional(all.substr(0, tab)) : std::nullopt;
  line.text = has_id ? all.substr(tab + 1) : all;
  return true;
}

absl::StatusOr<TextList> ReadTexts(const std::string& path,
                                   const ReadTextsOptions& options) {
  SEMRANK_ASSIGN_OR_RETURN(const std::unique_ptr<TextReader> reader,
                           TextReader::Open(path, options));
  TextList list;
  TextLine line;
  while (true) {
    SEMRANK_ASSIGN_OR_RETURN(const bool more, reader->Next(line));
    if (!more) return list;
    Append(line, list);
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
