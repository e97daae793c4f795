// Scores the documents of 64 slots of the catalog at a time.
//
// Reading is what a scan costs, so it first reads the vectors' copies in 4
// bits, an eighth of float32, which bound each score from above. Where no bound
// reaches the worst of the best hits so far, the block is done. Otherwise the
// few documents that may have a place are scored, or all of the block if they
// are many. Results are those of scoring every document, to the bit
// (CATALOG.md, "Search").
//
// A lexical part is bounded twice: first by 1, which leaves only documents with
// a high dense part, and where these are many by the postings' sums.
#ifndef SEMRANK_SERVER_CATALOG_SEARCH_BLOCK_SCORER_H_
#define SEMRANK_SERVER_CATALOG_SEARCH_BLOCK_SCORER_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/container/flat_hash_set.h"
#include "model/nn/lexical_query.h"
#include "model/nn/row_bounds.h"
#include "server/catalog/store/document_catalog.h"

namespace semrank {

// The documents of a snapshot that a filter keeps. Looks at each set of tags
// once, when the first document with it comes; after that a document costs two
// loads.
//
//   Memory   a byte for each set of tags in the catalog.
//   Threads  const, so thread-safe.
class SlotFilter {
 public:
  // Both outlive this.
  SlotFilter(const CatalogSnapshot* snapshot, const TagFilter* filter);

  // For a slot that the snapshot sees.
  bool Keeps(std::uint32_t slot) const;

 private:
  enum Verdict : std::uint8_t { kUnknown, kKept, kLeftOut };

  const CatalogSnapshot& snapshot_;
  const TagFilter& filter_;
  // By set; each thread that finds it unknown stores the same.
  const std::unique_ptr<std::atomic<Verdict>[]> verdicts_;
};

struct ScanQuery {
  const float* row = nullptr;  // its vector, of the snapshot's model
  // With one, its cosine is combined with that of the vectors, or with
  // Parts::kLexical all of the score.
  const LexicalQuery* lexical = nullptr;
  Parts parts = Parts::kBoth;
  // Adds SSI's sparse part.
  const SparseScorer::PreparedQuery* words = nullptr;
  absl::flat_hash_set<std::uint32_t> excluded_slots = {};
  const SlotFilter* filter = nullptr;  // null = every document
  const NameQuery* name = nullptr;     // null = names lift no document
};

// What a scan derives once from a query and the snapshot that it searches.
//
//   Threads  const, so thread-safe.
class PreparedScan {
 public:
  // Both outlive this.
  PreparedScan(const CatalogSnapshot* snapshot, const ScanQuery* query);

  const CatalogSnapshot& snapshot() const { return snapshot_; }
  const ScanQuery& query() const { return query_; }
  bool has_dense() const { return has_dense_; }
  // Whether scores can be bounded at all.
  bool has_bounds() const { return has_bounds_; }
  // Bounds the dense part; null where that cannot be.
  const BoundQuery* dense_bounds() const {
    return has_dense_ && has_bounds_ ? &dense_bounds_ : nullptr;
  }
  // Whether bounds of both may be computed at once.
  bool SharesRowsWith(const PreparedScan& other) const {
    return dense_bounds() != nullptr && other.dense_bounds() != nullptr &&
           snapshot_.HasSameRows(other.snapshot_);
  }

 private:
  const CatalogSnapshot& snapshot_;
  const ScanQuery& query_;
  bool has_dense_ = false;
  bool has_bounds_ = false;
  BoundQuery dense_bounds_;
};

// The documents of one block and their scores, or bounds of them.
struct Block {
  static constexpr std::uint32_t kSlots = CatalogSlots::kBlockSlots;

  std::array<std::uint32_t, kSlots> slots;
  std::array<float, kSlots> scores;
  // Where a block is not exact: bounds of the dense part alone, and with a
  // lexical part the highest sums of products (sparse_rows.h).
  std::array<float, kSlots> dense;
  std::array<std::uint32_t, kSlots> sums;
  std::size_t size = 0;
  bool whole = false;  // every slot is seen, so that all may be read
  bool exact = true;   // else no score is above what is in `scores`
};

// Scores block after block for one query, in the order of the slots: what it
// knows of the postings is of the last chunk.
//
//   Threads  one.
class BlockScorer {
 public:
  // Outlives this; its snapshot has a model.
  explicit BlockScorer(const PreparedScan& scan);

  // Fills in the slots from `first`, a multiple of 64, on that are to be
  // scored.
  void AddSlots(std::uint32_t first, Block& block) const;
  // Whether to compute the bounds of the dense parts of the block's 64 slots,
  // for Score.
  bool WantsBounds(std::uint32_t first, float least) const;
  // Scores them, or bounds their scores: documents below `least` have no place,
  // unless for their names. `dense_bounds` are of all slots of the block; null
  // unless WantsBounds.
  void Score(Block& block, float least, const float* dense_bounds);
  // The score of document i of the block; nothing if it is below `least`.
  std::optional<float> Exact(const Block& block, std::size_t i, float least);

 private:
  void ScoreVectors(Block& block) const;
  void ScoreSlots(Block& block) const;
  void Bound(Block& block, float least, const float* dense_bounds);
  void BoundVectors(Block& block, const float* dense_bounds) const;
  void Combine(Block& block, std::size_t first, std::size_t count) const;
  void Tighten(Block& block, float least);
  bool IsPending(std::uint32_t slot) const;
  float Combine(float dense, float lexical) const {
    return model_.lexical()->Combine(query_.parts, dense, lexical);
  }
  void SumProducts(std::uint32_t chunk);
  bool MayReadRows(std::uint32_t chunk, std::size_t num_rows);
  void AddLexical(Block& block);
  float LexicalCosineOf(std::uint32_t slot);
  void AddWords(Block& block);

  const PreparedScan& scan_;
  const CatalogSnapshot& snapshot_;
  const ScanQuery& query_;
  const TwoTowerModel& model_;
  const SparseRows* const rows_;
  static constexpr std::uint32_t kNoChunk = ~std::uint32_t{0};
  std::uint32_t sums_chunk_ = kNoChunk;  // of sums_
  SparseRows::ChunkSums sums_;
  std::uint32_t rows_chunk_ = kNoChunk;  // of num_rows_
  std::size_t num_rows_ = 0;  // that may be read in place of the postings
  LexicalBatch entries_;
  BagBatch words_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_CATALOG_SEARCH_BLOCK_SCORER_H_
