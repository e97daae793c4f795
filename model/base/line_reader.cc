#include "model/base/line_reader.h"

#include <utility>
#include <vector>

#include "model/base/byte_source.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 16;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

class SourceLineReader : public LineReader {
 public:
  SourceLineReader(const std::string& path, std::unique_ptr<ByteSource> source)
      : path_(path), source_(std::move(source)), chunk_(kChunkBytes) {}

  absl::StatusOr<bool> Next(std::string_view& line) override {
    // This may hold the line of the last call, which is no longer valid.
    carry_.clear();
    while (true) {
      if (unread_.empty()) {
        SEMRANK_ASSIGN_OR_RETURN(const std::size_t count,
                                 source_->Read(chunk_.data(), chunk_.size()));
        if (count == 0) return LastLine(line);
        unread_ = std::string_view(chunk_.data(), count);
      }
      const std::size_t end = unread_.find('\n');
      if (end != std::string_view::npos) {
        line = WholeLine(unread_.substr(0, end));
        unread_.remove_prefix(end + 1);
        return true;
      }
      Carry(unread_);
      unread_ = {};
    }
  }

  std::int64_t line_number() const override { return line_number_; }
  const std::string& path() const override { return path_; }
  double fraction_read() const override { return source_->fraction_read(); }

 private:
  // Keeps the start of a line that continues in the next chunk: one byte more
  // than the longest line, as a trailing "\r" does not count.
  void Carry(std::string_view part) {
    carry_.append(part.substr(0, kMaxLineBytes + 1 - carry_.size()));
  }

  // `end` is the part of a line in the current chunk, up to its "\n".
  std::string_view WholeLine(std::string_view end) {
    std::string_view line = end;
    if (!carry_.empty()) {
      Carry(end);
      line = carry_;
    }
    // If Carry truncated the line, this byte is beyond the limit anyway.
    if (line.ends_with('\r')) line.remove_suffix(1);
    return Trimmed(line);
  }

  // The last line, which has no "\n".
  bool LastLine(std::string_view& line) {
    if (carry_.empty()) return false;
    line = Trimmed(carry_);
    return true;
  }

  std::string_view Trimmed(std::string_view line) {
    ++line_number_;
    if (line_number_ == 1 && line.starts_with(kByteOrderMark)) {
      line.remove_prefix(kByteOrderMark.size());
    }
    return line.substr(0, kMaxLineBytes);
  }

  std::string path_;
  std::unique_ptr<ByteSource> source_;
  std::vector<char> chunk_;
  std::string_view unread_;  // of the current chunk
  std::string carry_;        // start of the line, from earlier chunks
  std::int64_t line_number_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<LineReader>> LineReader::Open(
    const std::string& path) {
  SEMRANK_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source,
                           ByteSource::Open(path));
  return std::make_unique<SourceLineReader>(path, std::move(source));
}

}  // namespace semrank
