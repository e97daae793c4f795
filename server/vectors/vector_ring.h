// One shard of DocumentVectorCache: a ring buffer of records and an index over
// it. Records are appended at the head and evicted at the tail. A record that
// was found since it was written moves from the tail to the head instead
// (second chance, that is CLOCK with records of any length).
//
//   Memory   is mapped at once, and used as the ring fills; huge pages where
//            the system has them. The index takes about 10 bytes an entry: 4,
//            and the slack of its hash table.
//   Threads  not thread-safe: the cache locks.
#ifndef SEMRANK_SERVER_VECTORS_VECTOR_RING_H_
#define SEMRANK_SERVER_VECTORS_VECTOR_RING_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "model/base/fingerprint.h"
#include "model/nn/lexical_part.h"
#include "model/nn/two_tower_model.h"

namespace semrank {

// Names the vector of a text. `model` is ServedModel::number.
struct VectorKey {
  std::uint32_t model = 0;
  Side side = Side::kDocument;
  Fingerprint text;
  friend bool operator==(const VectorKey&, const VectorKey&) = default;
};

class VectorRing {
 public:
  static constexpr std::size_t kLineBytes = 64;

  // The first line of a record, which its vector and then its lexical entries
  // follow. A record that was never live fills the end of the memory when the
  // next record did not fit there.
  struct alignas(kLineBytes) Record {
    VectorKey key;
    std::uint32_t num_lines = 0;
    RowFormat format = {};
    std::uint32_t num_entries = 0;
    bool live = false;
    bool found = false;

    const std::byte* row() const {
      return reinterpret_cast<const std::byte*>(this + 1);
    }
    std::span<const LexicalEntry> lexical() const {
      return {reinterpret_cast<const LexicalEntry*>(row() + format.num_bytes()),
              num_entries};
    }
  };
  static_assert(sizeof(Record) == kLineBytes);

  // Rounds `capacity_bytes` down to lines of 64 bytes, at least one. Returns
  // ResourceExhausted when the system has not enough memory.
  static absl::StatusOr<std::unique_ptr<VectorRing>> Create(
      std::size_t capacity_bytes);
  ~VectorRing();
  VectorRing(const VectorRing&) = delete;
  VectorRing& operator=(const VectorRing&) = delete;

  // Finds a record and marks it as found; null if there is none. Valid until
  // the next Insert.
  const Record* Find(const VectorKey& key);
  // Copies `vector`, format.dim rounded floats. Does nothing for a known key,
  // and for a record larger than the ring.
  void Insert(const VectorKey& key, RowFormat format, const float* vector,
              std::span<const LexicalEntry> lexical = {});
  // Drops every record whose model is not listed. The tail frees its memory
  // later.
  void DropModelsExcept(std::span<const std::uint32_t> models);

  // Before a Find: prefetches the index entry, and in a second pass the record
  // that Find most likely reads.
  void PrefetchIndex(const VectorKey& key) const { index_.prefetch(key); }
  void PrefetchRecord(const VectorKey& key) const {
    const auto line = index_.find(AnyWithHash{key.text.lo});
    if (line != index_.end()) __builtin_prefetch(RecordAtLine(*line));
  }

  std::size_t num_entries() const { return index_.size(); }
  std::size_t live_bytes() const { return live_lines_ * kLineBytes; }
  std::size_t capacity_bytes() const { return capacity_lines_ * kLineBytes; }
  std::uint64_t num_evictions() const { return num_evictions_; }

 private:
  // Equal to the first entry with the hash, which is nearly always the right
  // one; the record is not read.
  struct AnyWithHash {
    std::size_t hash;
  };
  // The index holds line numbers; keys are read from the records.
  struct HashKey {
    using is_transparent = void;
    const VectorRing* ring;
    std::size_t operator()(const VectorKey& key) const { return key.text.lo; }
    std::size_t operator()(AnyWithHash any) const { return any.hash; }
    std::size_t operator()(std::uint32_t line) const {
      return ring->RecordAtLine(line)->key.text.lo;
    }
  };
  struct SameKey {
    using is_transparent = void;
    const VectorRing* ring;
    bool operator()(std::uint32_t a, std::uint32_t b) const { return a == b; }
    bool operator()(std::uint32_t line, const VectorKey& key) const {
      return ring->RecordAtLine(line)->key == key;
    }
    bool operator()(std::uint32_t /*line*/, AnyWithHash /*any*/) const {
      return true;
    }
    bool operator()(AnyWithHash /*any*/, std::uint32_t /*line*/) const {
      return true;
    }
    bool operator()(const VectorKey& key, std::uint32_t line) const {
      return (*this)(line, key);
    }
  };

  VectorRing(std::byte* memory, std::size_t capacity_lines);

  // Positions increase for ever; lines are positions modulo capacity_lines_.
  Record* RecordAt(std::uint64_t position) const {
    return RecordAtLine(static_cast<std::uint32_t>(position % capacity_lines_));
  }
  Record* RecordAtLine(std::uint32_t line) const {
    return reinterpret_cast<Record*>(memory_ + std::size_t{line} * kLineBytes);
  }
  std::uint64_t LinesToEnd() const {
    return capacity_lines_ - head_ % capacity_lines_;
  }
  bool Fits(std::uint32_t num_lines) const;
  Record* Append(std::uint32_t num_lines);
  void MakeRoom(std::uint32_t num_lines);
  bool MoveToHead(Record* record, std::uint32_t line);

  std::byte* const memory_;
  const std::uint64_t capacity_lines_;
  // Lines ever appended and ever removed; the ring holds [tail_, head_).
  std::uint64_t head_ = 0;
  std::uint64_t tail_ = 0;
  std::uint64_t live_lines_ = 0;
  std::uint64_t num_evictions_ = 0;
  absl::flat_hash_set<std::uint32_t, HashKey, SameKey> index_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_VECTORS_VECTOR_RING_H_
