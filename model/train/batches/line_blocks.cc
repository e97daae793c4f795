#include "model/train/batches/line_blocks.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "absl/strings/str_format.h"
#include "model/base/byte_order_mark.h"
#include "model/base/byte_source.h"
#include "model/base/file_descriptor.h"
#include "model/base/file_io.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

constexpr std::size_t kMagicBytes = 4;
constexpr std::size_t kTailBytes = std::size_t{1} << 12;

// Appends `size` bytes from `offset` on; fewer only at the file's end.
absl::Status AppendBytes(const FileDescriptor& file, std::uint64_t offset,
                         std::size_t size, std::string& content) {
  const std::size_t before = content.size();
  content.resize(before + size);
  std::size_t count = 0;
  while (count < size) {
    const ssize_t result =
        pread(file.get(), content.data() + before + count, size - count,
              static_cast<off_t>(offset + count));
    if (result < 0 && errno == EINTR) continue;
    if (result < 0) return ErrnoStatus(errno, "read", file.path());
    if (result == 0) break;
    count += static_cast<std::size_t>(result);
  }
  content.resize(before + count);
  return absl::OkStatus();
}

// Continues reading until the last line is whole, or longer than a line may be.
absl::Status FinishLastLine(const FileDescriptor& file, std::uint64_t offset,
                            std::string& content) {
  const std::size_t end = content.size();
  while (content.size() - end <= LineReader::kMaxLineBytes) {
    const std::size_t before = content.size();
    SEMRANK_RETURN_IF_ERROR(
        AppendBytes(file, offset + (before - end), kTailBytes, content));
    const std::size_t newline = content.find('\n', before);
    if (newline != std::string::npos) {
      content.resize(newline + 1);
      return absl::OkStatus();
    }
    // The file ends here; its last line may lack the line feed.
    if (content.size() < before + kTailBytes) return absl::OkStatus();
  }
  return absl::OkStatus();
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
      SEMRANK_RETURN_IF_ERROR(AppendBytes(file, 0, kMagicBytes, head));
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
  std::sort(blocks_.begin(), blocks_.end(), [](const Block& a, const Block& b) {
    return a.file != b.file ? a.file < b.file : a.begin < b.begin;
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
  SEMRANK_RETURN_IF_ERROR(
      AppendBytes(file, first, block.end - first, content_));
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
    SEMRANK_RETURN_IF_ERROR(FinishLastLine(file, block.end, content_));
  }
  unread_ = std::string_view(content_).substr(skipped);
  return absl::OkStatus();
}

}  // namespace semrank
