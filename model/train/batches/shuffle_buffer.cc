#include "model/train/batches/shuffle_buffer.h"

#include <utility>

namespace semrank {
namespace {

// The object, its characters and the allocator's own bytes.
std::size_t Bytes(std::size_t line_size) {
  constexpr std::size_t kShort = 15, kAllocatorBytes = 24;
  return sizeof(std::string) +
         (line_size > kShort ? line_size + kAllocatorBytes : 0);
}

}  // namespace

bool ShuffleBuffer::Add(std::string_view line) {
  const std::size_t bytes = Bytes(line.size());
  if (!lines_.empty() && bytes_ + bytes > capacity_bytes_) return false;
  lines_.emplace_back(line);
  bytes_ += bytes;
  return true;
}

void ShuffleBuffer::Draw(Random& random, std::string& line) {
  const std::size_t place =
      random.Below(static_cast<std::uint32_t>(lines_.size()));
  std::swap(lines_[place], lines_.back());
  line = std::move(lines_.back());
  lines_.pop_back();
  bytes_ -= Bytes(line.size());
}

void ShuffleBuffer::Clear() {
  lines_.clear();
  bytes_ = 0;
}

}  // namespace semrank
