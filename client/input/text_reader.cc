#include "client/input/text_reader.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/text/utf8.h"

namespace semrank {
namespace {

// A block is held in memory as a whole, as text and as vectors.
constexpr std::size_t kMaxBlockTexts = 20'000;
constexpr std::size_t kMaxTextBlockBytes = std::size_t{16} << 20;

// Ids are parallel to texts, or there are none at all.
void Append(const TextLine& line, TextList& list) {
  if (line.id.has_value()) {
    list.ids.resize(list.texts.size());  // earlier texts had none
    list.ids.emplace_back(*line.id);
  } else if (!list.ids.empty()) {
    list.ids.emplace_back();
  }
  list.texts.emplace_back(line.text);
}

}  // namespace

std::string ProblemOfLine(std::string_view line) {
  // LineReader truncates longer lines to this size.
  if (line.size() >= LineReader::kMaxLineBytes) {
    return absl::StrFormat("%d bytes or more", LineReader::kMaxLineBytes);
  }
  return IsValidUtf8(line) ? "" : "not valid UTF-8";
}

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
    // Lines that are not ours are not checked: their shard reports them.
    if (line_number() <= options_.num_lines_before ||
        !options_.shard.Contains(line_number()) ||
        (all.empty() && options_.skip_empty_lines)) {
      continue;
    }
    // A line that is cut or not UTF-8 would fail the whole call at the server.
    const std::string problem = ProblemOfLine(all);
    if (problem.empty()) break;
    SEMRANK_RETURN_IF_ERROR(
        bad_lines_.Add(reader_->path(), line_number(), problem));
  }
  // Only the first tab separates: titles may contain tabs.
  const std::size_t tab = all.find('\t');
  const bool has_id = tab != std::string_view::npos;
  line.number = line_number();
  line.id = has_id ? std::optional(all.substr(0, tab)) : std::nullopt;
  line.text = has_id ? all.substr(tab + 1) : all;
  return true;
}

// Bytes bound a block too, since a line may have a megabyte.
absl::StatusOr<TextBlock> TextReader::NextBlock(const IdOfLine& id_of) {
  TextBlock block;
  std::size_t num_bytes = 0;
  TextLine line;
  while (block.lines.size() < kMaxBlockTexts &&
         num_bytes < kMaxTextBlockBytes) {
    SEMRANK_ASSIGN_OR_RETURN(const bool more, Next(line));
    if (!more) break;
    SEMRANK_ASSIGN_OR_RETURN(std::string id, id_of(line));
    block.lines.push_back(line.number);
    block.list.texts.emplace_back(line.text);
    num_bytes += line.text.size() + id.size();
    block.list.ids.push_back(std::move(id));
  }
  return block;
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

bool IsRereadable(const std::string& path) {
  std::error_code error;
  return path != "-" && std::filesystem::is_regular_file(path, error);
}

// Reads the file once more, only for the total of the progress bar.
absl::StatusOr<std::int64_t> CountLines(const std::string& path,
                                        const Shard& shard) {
  if (!IsRereadable(path)) return 0;
  SEMRANK_ASSIGN_OR_RETURN(const std::unique_ptr<LineReader> reader,
                           LineReader::Open(path));
  std::string_view line;
  while (true) {
    SEMRANK_ASSIGN_OR_RETURN(const bool more, reader->Next(line));
    if (!more) return shard.NumLines(reader->line_number());
  }
}

}  // namespace semrank
