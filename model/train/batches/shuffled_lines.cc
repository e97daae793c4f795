#include "model/train/batches/shuffled_lines.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/byte_source.h"
#include "model/base/file_descriptor.h"
#include "model/base/file_io.h"
#include "model/base/line_reader.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

// A block of a plain file is a range of bytes that need not begin or end with a
// line. A line belongs to the block in which it begins: the reader of a block
// skips the end of the line before, and reads its own last line beyond the
// block. So each line is read once.

// What IsCompressed needs.
constexpr std::size_t kMagicBytes = 4;
// Most lines end within this much of the block's end.
constexpr std::size_t kTailBytes = std::size_t{1} << 12;

// Appends the next `size` bytes; fewer only at the file's end.
absl::Status AppendBytes(const FileDescriptor& file, std::size_t size,
                         std::string& content) {
  const std::size_t end = content.size() + size;
  for (std::size_t count = 1; count > 0 && content.size() < end;) {
    const std::size_t before = content.size();
    content.resize(end);
    SEMRANK_ASSIGN_OR_RETURN(count,
                             file.Read(content.data() + before, end - before));
    content.resize(before + count);
  }
  return absl::OkStatus();
}

// Reads on until the last line is whole, or longer than a line may be.
absl::Status FinishLastLine(const FileDescriptor& file, std::string& content) {
  const std::size_t end = content.size();
  while (content.size() - end <= LineReader::kMaxLineBytes) {
    const std::size_t before = content.size();
    SEMRANK_RETURN_IF_ERROR(AppendBytes(file, kTailBytes, content));
    const std::size_t newline = content.find('\n', before);
    if (newline != std::string::npos) {
      content.resize(newline + 1);
      break;
    }
    // The file ends here; its last line may lack the line feed.
    if (content.size() < before + kTailBytes) break;
  }
  return absl::OkStatus();
}

// The object, its characters and the allocator's own bytes.
std::size_t LineBytes(std::size_t line_size) {
  constexpr std::size_t kShort = 15, kAllocatorBytes = 24;
  return sizeof(std::string) +
         (line_size > kShort ? line_size + kAllocatorBytes : 0);
}

}  // namespace

absl::StatusOr<LineBlocks> LineBlocks::Create(
    const std::vector<std::string>& paths, std::size_t block_bytes) {
  LineBlocks blocks;
  for (const std::string& path : paths) {
    SEMRANK_RETURN_IF_ERROR(blocks.AddFile(path, block_bytes));
  }
  return blocks;
}

absl::Status LineBlocks::AddFile(const std::string& path,
                                 std::size_t block_bytes) {
  std::optional<std::size_t> size;
  std::string head;
  if (path != "-") {
    SEMRANK_ASSIGN_OR_RETURN(const FileDescriptor file,
                             FileDescriptor::Open(path, O_RDONLY));
    SEMRANK_ASSIGN_OR_RETURN(size, file.RegularFileSize());
    if (size) {
      SEMRANK_RETURN_IF_ERROR(AppendBytes(file, kMagicBytes, head));
    }
  }
  if (!size) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "\"%s\" does not fit in --memory_limit and can be read only once: give "
        "a file, or more memory",
        path));
  }
  const auto file = static_cast<std::uint32_t>(paths_.size());
  paths_.push_back(path);
  // end 0 marks a whole file: a compressed one can only be read from its
  // beginning.
  if (IsCompressed(head)) {
    blocks_.push_back({file, 0, 0});
    return absl::OkStatus();
  }
  for (std::uint64_t begin = 0; begin < *size; begin += block_bytes) {
    blocks_.push_back(
        {file, begin, std::min<std::uint64_t>(begin + block_bytes, *size)});
  }
  return absl::OkStatus();
}

void LineBlocks::Shuffle(Random random) {
  // The shuffle begins with the same order each time, so that an epoch does not
  // depend on the epochs before it.
  std::ranges::sort(blocks_, {}, [](const Block& block) {
    return std::pair(block.file, block.begin);
  });
  semrank::Shuffle(random, blocks_);
  next_block_ = 0;
  reader_.reset();
  unread_ = {};
}

absl::StatusOr<bool> LineBlocks::Next(std::string_view& line) {
  for (;;) {
    if (reader_ != nullptr) {
      SEMRANK_ASSIGN_OR_RETURN(const bool more, reader_->Next(line));
      if (more) return true;
      reader_.reset();
    }
    if (!unread_.empty()) {
      line = unread_.substr(0, unread_.find('\n'));
      unread_.remove_prefix(std::min(line.size() + 1, unread_.size()));
      if (line.ends_with('\r')) line.remove_suffix(1);
      line = line.substr(0, LineReader::kMaxLineBytes);
      return true;
    }
    if (next_block_ == blocks_.size()) return false;
    SEMRANK_RETURN_IF_ERROR(Open(blocks_[next_block_++]));
  }
}

absl::Status LineBlocks::Open(const Block& block) {
  if (block.end > 0) return ReadBlock(block);
  SEMRANK_ASSIGN_OR_RETURN(reader_, LineReader::Open(paths_[block.file]));
  return absl::OkStatus();
}

absl::Status LineBlocks::ReadBlock(const Block& block) {
  SEMRANK_ASSIGN_OR_RETURN(const FileDescriptor file,
                           FileDescriptor::Open(paths_[block.file], O_RDONLY));
  content_.clear();
  // The byte before the block shows whether a line begins with the block.
  const std::uint64_t first = block.begin > 0 ? block.begin - 1 : 0;
  if (lseek(file.get(), static_cast<off_t>(first), SEEK_SET) < 0) {
    return ErrnoStatus(errno, "read", file.path());
  }
  SEMRANK_RETURN_IF_ERROR(AppendBytes(file, block.end - first, content_));
  std::size_t skipped = 0;
  if (block.begin > 0) {
    const std::size_t newline = content_.find('\n');
    // No line begins in the block.
    if (newline == std::string::npos || newline + 1 == content_.size()) {
      unread_ = {};
      return absl::OkStatus();
    }
    skipped = newline + 1;
  } else if (content_.starts_with(kByteOrderMark)) {
    skipped = kByteOrderMark.size();
  }
  if (!content_.ends_with('\n')) {
    SEMRANK_RETURN_IF_ERROR(FinishLastLine(file, content_));
  }
  unread_ = std::string_view(content_).substr(skipped);
  return absl::OkStatus();
}

bool ShuffleBuffer::Add(std::string_view line) {
  const std::size_t bytes = LineBytes(line.size());
  if (!lines_.empty() && bytes_ + bytes > capacity_bytes_) return false;
  lines_.emplace_back(line);
  bytes_ += bytes;
  return true;
}

void ShuffleBuffer::Draw(Random& random, std::string& line) {
  const std::size_t place =
      random.Below(static_cast<std::uint32_t>(lines_.size()));
  // The last line fills the gap, so a draw takes constant time.
  std::swap(lines_[place], lines_.back());
  line = std::move(lines_.back());
  lines_.pop_back();
  bytes_ -= LineBytes(line.size());
}

void ShuffleBuffer::Clear() {
  lines_.clear();
  bytes_ = 0;
}

}  // namespace semrank
