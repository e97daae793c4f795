#include "model/base/line_reader.h"

#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/base/byte_source.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 16;

// Whether every second byte from `first` on, and no other, is 0: letters of
// ASCII in UTF-16.
bool AlternatesWithZeros(std::string_view start, std::size_t first) {
  for (std::size_t i = 0; i < start.size(); ++i) {
    if ((start[i] == '\0') != (i % 2 == first)) return false;
  }
  return true;
}

// The encoding that the first line of a file shows, as iconv names it, or "".
// Read as UTF-8, such a text would be one of single letters.
std::string_view WideEncodingOf(std::string_view first_line) {
  using std::string_view_literals::operator""sv;
  if (first_line.starts_with("\xff\xfe\0\0"sv) ||
      first_line.starts_with("\0\0\xfe\xff"sv)) {
    return "UTF-32";
  }
  if (first_line.starts_with("\xff\xfe") ||
      first_line.starts_with("\xfe\xff")) {
    return "UTF-16";
  }
  // Without a byte order mark, the zeros show it.
  constexpr std::size_t kBytes = 16;
  const std::string_view start = first_line.substr(0, kBytes);
  if (start.size() < 4) return "";
  if (AlternatesWithZeros(start, 1)) return "UTF-16LE";
  return AlternatesWithZeros(start, 0) ? "UTF-16BE" : "";
}

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
        if (count == 0) {
          if (carry_.empty()) return false;
          line = Trimmed(carry_);  // the last line, which has no "\n"
          return CheckEncoding(line);
        }
        unread_ = std::string_view(chunk_.data(), count);
      }
      const std::size_t end = unread_.find('\n');
      if (end != std::string_view::npos) {
        line = WholeLine(unread_.substr(0, end));
        unread_.remove_prefix(end + 1);
        return CheckEncoding(line);
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

  // True, so that Next can return it, unless the first line is not UTF-8.
  absl::StatusOr<bool> CheckEncoding(std::string_view line) const {
    if (line_number_ > 1) return true;
    const std::string_view encoding = WideEncodingOf(line);
    if (encoding.empty()) return true;
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: is %s, not UTF-8; convert it: iconv -f %s -t UTF-8", path_,
        encoding, encoding));
  }

  std::string_view Trimmed(std::string_view line) {
    ++line_number_;
    if (line_number_ == 1) line = WithoutByteOrderMark(line);
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
