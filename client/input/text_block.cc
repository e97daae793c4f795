#include "client/input/text_block.h"

#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>

#include "model/base/line_reader.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

constexpr std::size_t kMaxBlockTexts = 20'000;
constexpr std::size_t kMaxBlockBytes = std::size_t{16} << 20;

}  // namespace

absl::StatusOr<TextBlock> ReadTextBlock(TextReader& reader,
                                        const IdOfLine& id_of) {
  TextBlock block;
  std::size_t num_bytes = 0;
  TextLine line;
  while (block.lines.size() < kMaxBlockTexts && num_bytes < kMaxBlockBytes) {
    SEMRANK_ASSIGN_OR_RETURN(const bool more, reader.Next(line));
    if (!more) break;
    SEMRANK_ASSIGN_OR_RETURN(std::string id, id_of(line));
    block.lines.push_back(line.number);
    block.list.texts.emplace_back(line.text);
    num_bytes += line.text.size() + id.size();
    block.list.ids.push_back(std::move(id));
  }
  return block;
}

bool CanBeReadAgain(const std::string& path) {
  std::error_code error;
  return path != "-" && std::filesystem::is_regular_file(path, error);
}

absl::StatusOr<std::int64_t> CountLines(const std::string& path,
                                        const Shard& shard) {
  if (!CanBeReadAgain(path)) return 0;
  SEMRANK_ASSIGN_OR_RETURN(const std::unique_ptr<LineReader> reader,
                           LineReader::Open(path));
  std::string_view line;
  while (true) {
    SEMRANK_ASSIGN_OR_RETURN(const bool more, reader->Next(line));
    if (!more) return shard.NumLines(reader->line_number());
  }
}

}  // namespace semrank
