// Cosines of one query's lexical part with those of many documents.
//
//   Threads  a LexicalQuery is const between calls of Prepare.
#ifndef SEMRANK_MODEL_NN_LEXICAL_QUERY_H_
#define SEMRANK_MODEL_NN_LEXICAL_QUERY_H_

#include <cstdint>
#include <span>
#include <vector>

#include "model/nn/lexical_part.h"

namespace semrank {

// A query as the sum of products reads it.
struct LexicalQueryView {
  std::span<const std::uint16_t> copies;  // empty: the query is long
  const std::uint32_t* slots;
  std::uint32_t mask;
};

// One query, prepared so that the entries of many documents are quickly tested
// against it. Each bucket of a short query is compared with a SIMD vector of
// entries at a time. For a longer one there is a table of at least 4,096 slots
// (16 KiB, which stay in the L1 cache), which doubles until no two buckets of
// the query share a slot; with a slot for each bucket none do.
class LexicalQuery {
 public:
  LexicalQuery();

  // Replaces the query; its buckets differ. Costs time in its entries alone.
  void Prepare(std::span<const LexicalEntry> query);

  // The value of a bucket; 0 for one that the query does not have.
  std::uint32_t value(std::uint16_t bucket) const {
    const std::uint32_t slot = slots_[bucket & mask_];
    return (slot & 0xffff) == bucket ? slot >> 16 : 0;
  }
  std::span<const LexicalEntry> entries() const { return query_; }
  float Cosine(std::span<const LexicalEntry> document) const;

 private:
  using SumOfProducts = std::uint32_t (*)(const LexicalQueryView& query,
                                          std::span<const LexicalEntry>);
  // False, leaving no entry, when two entries share a slot.
  bool FillSlots();
  void ClearSlots(std::size_t num_entries);

  std::vector<LexicalEntry> query_;
  // value << 16 | bucket, 0 = free. One word, so that Cosine becomes gathers.
  std::vector<std::uint32_t> slots_;
  std::uint32_t mask_;
  // Each bucket and each value of a short query as a vector of copies.
  std::vector<std::uint16_t> copies_;
  // Functions of the level in use: looked up here, not for each document.
  SumOfProducts sum_of_products_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_NN_LEXICAL_QUERY_H_
