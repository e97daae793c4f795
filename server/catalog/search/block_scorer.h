// Scans the catalog for the documents that score best, 64 slots at a time, in
// the order in which the rows lie in memory.
//
// Reading memory is most of the cost. So a scan first reads the copies of the
// vectors in 4-bit codes, an eighth of float32, which bound each score from
// above. If no bound reaches the worst of the best documents so far, the block
// is finished. Otherwise the few documents that may have a place are scored, or
// all of the block if there are many. The result is that of scoring every
// document, to the bit, and each score is the one that Rank gives the same pair
// (CATALOG.md, "Search").
//
// A lexical part is bounded in two steps: by 1, which leaves only documents
// with a high dense part, and where these are many by the sums of the postings.
// That costs a nanosecond for each n-gram of the query and each document with
// it. SSI's words have no bound and are all read.
#ifndef SEMRANK_SERVER_CATALOG_SEARCH_BLOCK_SCORER_H_
#define SEMRANK_SERVER_CATALOG_SEARCH_BLOCK_SCORER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "model/nn/row_bounds.h"
#include "server/catalog/search/scan_query.h"
#include "server/catalog/store/catalog_slots.h"
#include "server/catalog/store/catalog_snapshot.h"
#include "server/catalog/store/sparse_rows.h"

namespace semrank {

// The documents of one block and their scores, or bounds of these.
struct Block {
  static constexpr std::uint32_t kSlots = CatalogSlots::kBlockSlots;

  std::array<std::uint32_t, kSlots> slots;
  std::array<float, kSlots> scores;
  // If the block is not exact: bounds of the dense parts and, with a lexical
  // part, of the sums of products (sparse_rows.h).
  std::array<float, kSlots> dense;
  std::array<std::uint32_t, kSlots> sums;
  std::size_t size = 0;
  bool exact = true;  // false = no score is above what `scores` has
};

// Scores block after block for one query and collects the best documents. The
// blocks must come in ascending order, because the sums of the postings are
// those of one chunk at a time.
//
//   Threads  not thread-safe.
class BlockScorer {
 public:
  // `query` must outlive this, and its snapshot must have a model. Adds to
  // `best`.
  BlockScorer(const ScanQuery& query, TopDocuments best);

  const ScanQuery& query() const { return query_; }
  TopDocuments& best() { return best_; }
  // The number of documents whose scores were computed or bounded.
  std::size_t num_scored() const { return num_scored_; }

  // Whether ScoreBlock can use bounds of the dense parts of the block.
  bool WantsBounds(std::uint32_t first) const;
  // Scores the documents of the 64 slots from `first` on. `dense_bounds` has
  // the bounds of all 64; null unless WantsBounds. Overwrites `block`.
  void ScoreBlock(std::uint32_t first, const float* dense_bounds, Block& block);

 private:
  void AddSlots(std::uint32_t first, Block& block) const;
  bool IsAnyNamed(const Block& block) const;
  void Score(Block& block, float least, const float* dense_bounds);
  void AddToBest(const Block& block);
  NameMatch MatchTexts(std::uint32_t slot) const;
  // The exact score of document i of the block; none if it is below `least`.
  std::optional<float> Exact(const Block& block, std::size_t i, float least);
  void ScoreVectors(Block& block) const;
  void Bound(Block& block, float least, const float* dense_bounds);
  void BoundVectors(Block& block, const float* dense_bounds) const;
  void Combine(Block& block, std::size_t first, std::size_t count) const;
  float Combine(float dense, float lexical) const {
    return model_.lexical()->Combine(input_.parts, dense, lexical);
  }
  void Tighten(Block& block, float least);
  bool IsPending(std::uint32_t slot) const;
  void SumProducts(std::uint32_t chunk);
  bool MayReadRows(std::uint32_t chunk, std::size_t num_rows);
  void AddLexical(Block& block);
  float LexicalCosineOf(std::uint32_t slot);
  void AddWords(Block& block);

  const ScanQuery& query_;
  const ScanQuery::Input& input_;
  const CatalogSnapshot& snapshot_;
  const TwoTowerModel& model_;
  const SparseRows* const rows_;
  TopDocuments best_;
  std::size_t num_scored_ = 0;
  static constexpr std::uint32_t kNoChunk = ~std::uint32_t{0};
  std::uint32_t sums_chunk_ = kNoChunk;  // the chunk of sums_
  SparseRows::ChunkSums sums_;
  std::uint32_t rows_chunk_ = kNoChunk;  // the chunk of num_rows_
  std::size_t num_rows_ = 0;  // rows that were read in place of the postings
  LexicalBatch entries_;
  BagBatch words_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_CATALOG_SEARCH_BLOCK_SCORER_H_
