#include "server/vectors/vector_ring.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "absl/strings/str_format.h"
#include "model/base/huge_pages.h"

namespace semrank {
namespace {

// The number of records that get a second chance before one is evicted anyway.
// It bounds the work of one Insert when every record was found recently.
constexpr int kMaxSecondChances = 8;

}  // namespace

absl::StatusOr<std::unique_ptr<VectorRing>> VectorRing::Create(
    std::size_t capacity_bytes) {
  const std::size_t capacity_lines =
      std::max<std::size_t>(capacity_bytes / kLineBytes, 1);
  // Line numbers in the index have 32 bits.
  if (capacity_lines > std::numeric_limits<std::uint32_t>::max()) {
    return absl::ResourceExhaustedError(absl::StrFormat(
        "%d bytes of vector cache are over 256 GiB a shard", capacity_bytes));
  }
  // Pages take memory only when the ring first reaches them.
  void* const memory = MapHugePages(capacity_lines * kLineBytes);
  if (memory == nullptr) {
    return absl::ResourceExhaustedError(absl::StrFormat(
        "no memory for %d bytes of vector cache", capacity_lines * kLineBytes));
  }
  return std::unique_ptr<VectorRing>(
      new VectorRing(static_cast<std::byte*>(memory), capacity_lines));
}

VectorRing::VectorRing(std::byte* memory, std::size_t capacity_lines)
    : memory_(memory),
      capacity_lines_(capacity_lines),
      index_(0, HashKey{this}, SameKey{this}) {}

VectorRing::~VectorRing() { munmap(memory_, capacity_lines_ * kLineBytes); }

const VectorRing::Record* VectorRing::Find(const VectorKey& key) {
  const auto line = index_.find(key);
  if (line == index_.end()) return nullptr;
  // The index holds no keys, so a look-up reads the record itself; marking it
  // as found costs no further miss.
  Record* const record = RecordAtLine(*line);
  record->found = true;
  return record;
}

void VectorRing::Insert(const VectorKey& key, RowFormat format,
                        const float* vector,
                        std::span<const LexicalEntry> lexical) {
  const std::size_t content_lines =
      (format.num_bytes() + lexical.size_bytes() + kLineBytes - 1) / kLineBytes;
  // What fits into the ring when it is empty can be inserted, so MakeRoom ends.
  if (1 + content_lines > capacity_lines_ || index_.contains(key)) return;
  const auto num_lines = static_cast<std::uint32_t>(1 + content_lines);
  MakeRoom(num_lines);
  Record* const record = Append(num_lines);
  *record = Record{.key = key,
                   .num_lines = num_lines,
                   .format = format,
                   .num_entries = static_cast<std::uint32_t>(lexical.size()),
                   .live = true};
  auto* const row = reinterpret_cast<std::byte*>(record + 1);
  EncodeRow(vector, format, row);
  std::copy(lexical.begin(), lexical.end(),
            reinterpret_cast<LexicalEntry*>(row + format.num_bytes()));
  live_lines_ += num_lines;
  // After the record is written: the set hashes the key that lies at the line.
  // For the same reason an entry is erased before its record is overwritten.
  index_.insert(
      static_cast<std::uint32_t>((head_ - num_lines) % capacity_lines_));
}

// Records are contiguous, so the lines up to the end of the memory are lost
// when the record does not fit there.
bool VectorRing::Fits(std::uint32_t num_lines) const {
  const std::uint64_t lost = num_lines > LinesToEnd() ? LinesToEnd() : 0;
  return head_ - tail_ + lost + num_lines <= capacity_lines_;
}

VectorRing::Record* VectorRing::Append(std::uint32_t num_lines) {
  // The filler keeps the ring walkable from tail to head record by record.
  if (num_lines > LinesToEnd()) {
    const auto filler = static_cast<std::uint32_t>(LinesToEnd());
    *RecordAt(head_) = Record{.key = {}, .num_lines = filler};
    head_ += filler;
  }
  Record* const record = RecordAt(head_);
  head_ += num_lines;
  return record;
}

void VectorRing::MakeRoom(std::uint32_t num_lines) {
  int second_chances = kMaxSecondChances;
  // Ends, because Insert has checked that the record fits into an empty ring.
  while (!Fits(num_lines)) {
    if (head_ == tail_) {
      // Continue at the beginning of the memory.
      head_ += LinesToEnd();
      tail_ = head_;
      continue;
    }
    const auto line = static_cast<std::uint32_t>(tail_ % capacity_lines_);
    Record* const record = RecordAtLine(line);
    // Advances first, because MoveToHead needs the room of the record itself.
    // The record is no longer in the ring, but its bytes are intact.
    tail_ += record->num_lines;
    if (!record->live) continue;
    // Evicting strictly in the order of insertion would lose titles that every
    // request has; a second chance costs one copy of the record.
    if (record->found && second_chances-- > 0 && MoveToHead(record, line)) {
      continue;
    }
    index_.erase(line);
    live_lines_ -= record->num_lines;
    ++num_evictions_;
  }
}

// `record` was just removed from the tail. Returns false when it does not fit
// before the end of the memory. Its old and new place may overlap in an almost
// full ring.
bool VectorRing::MoveToHead(Record* record, std::uint32_t line) {
  const std::uint32_t num_lines = record->num_lines;
  if (num_lines > LinesToEnd() || !Fits(num_lines)) return false;
  index_.erase(line);
  record->found = false;
  Record* const moved = Append(num_lines);
  std::memmove(static_cast<void*>(moved), record, num_lines * kLineBytes);
  index_.insert(
      static_cast<std::uint32_t>((head_ - num_lines) % capacity_lines_));
  return true;
}

void VectorRing::DropModelsExcept(std::span<const std::uint32_t> models) {
  for (std::uint64_t at = tail_; at < head_;) {
    const auto line = static_cast<std::uint32_t>(at % capacity_lines_);
    Record* const record = RecordAtLine(line);
    at += record->num_lines;
    if (!record->live || std::ranges::count(models, record->key.model) > 0) {
      continue;
    }
    index_.erase(line);
    // Only marked: compacting would copy the whole ring.
    record->live = false;
    live_lines_ -= record->num_lines;
  }
}

}  // namespace semrank
