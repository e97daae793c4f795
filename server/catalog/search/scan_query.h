// What a scan of the catalog looks for, and the best documents that it has
// found.
#ifndef SEMRANK_SERVER_CATALOG_SEARCH_SCAN_QUERY_H_
#define SEMRANK_SERVER_CATALOG_SEARCH_SCAN_QUERY_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "model/nn/lexical_query.h"
#include "model/nn/row_bounds.h"
#include "model/nn/sparse_scorer.h"
#include "server/catalog/store/catalog_names.h"
#include "server/catalog/store/catalog_snapshot.h"
#include "server/catalog/store/document_tags.h"

namespace semrank {

// The documents of a snapshot that a filter keeps. Applies the filter once to
// each distinct set of tags, when the first document with it comes; after that
// a document costs two loads.
//
//   Memory   a byte for each set of tags in the catalog.
//   Threads  thread-safe.
class SlotFilter {
 public:
  // The snapshot and the filter's tags must outlive this.
  SlotFilter(const CatalogSnapshot* snapshot, const TagFilter& filter);

  // `slot` must be visible in the snapshot.
  bool Keeps(std::uint32_t slot) const;

 private:
  enum Verdict : std::uint8_t { kUnknown, kKept, kDropped };

  const CatalogSnapshot& snapshot_;
  const TagMatcher tags_;
  // By set; threads that find one unknown at once store the same.
  const std::unique_ptr<std::atomic<Verdict>[]> verdicts_;
};

// A query as a scan of a snapshot needs it. Const after construction.
class ScanQuery {
 public:
  struct Input {
    // The query's vector [embedding_dim], of the snapshot's model.
    const float* row = nullptr;
    // The query's lexical part, if `parts` includes that; null = none.
    const LexicalQuery* lexical = nullptr;
    ModelParts parts = ModelParts::kBoth;
    // The query's words, for SSI's sparse part; null = none.
    const SparseScorer::PreparedQuery* words = nullptr;
    absl::flat_hash_set<std::uint32_t> excluded_slots = {};
    const SlotFilter* filter = nullptr;  // null = every document
    const NameQuery* name = nullptr;     // null = no document is named
  };
  // `snapshot` and what `input` points to must outlive this.
  ScanQuery(const CatalogSnapshot* snapshot, Input input);

  const CatalogSnapshot& snapshot() const { return snapshot_; }
  const Input& input() const { return input_; }
  bool has_dense() const { return has_dense_; }
  // Whether scores can be bounded from above without computing them.
  bool has_bounds() const { return has_bounds_; }
  // Bounds the dense part; null if it has no bounds.
  const BoundQuery* dense_bounds() const {
    return has_dense_ && has_bounds_ ? &dense_bounds_ : nullptr;
  }
  // The exact scores of the dense part, as CatalogVectors::Score.
  void ScoreVectors(std::span<const std::uint32_t> slots,
                    std::span<float> scores) const {
    const CatalogVectors& vectors = snapshot_.vectors();
    vectors.Score({input_.row, static_cast<std::size_t>(vectors.format().dim)},
                  dense_bounds_, slots, scores);
  }
  // Whether BoundTogether can compute the bounds of both queries.
  bool SharesRowsWith(const ScanQuery& other) const {
    return dense_bounds() != nullptr && other.dense_bounds() != nullptr &&
           snapshot_.HasSameRows(other.snapshot_);
  }

 private:
  const CatalogSnapshot& snapshot_;
  const Input input_;
  bool has_dense_ = false;
  bool has_bounds_ = false;
  BoundQuery dense_bounds_;
};

struct CatalogHit {
  std::uint32_t slot = 0;
  float score = 0;
  NameMatch name = NameMatch::kNone;  // ranks before the score
};

// The best documents found so far, in a heap.
//
//   Order    by name match and then score, both descending; equal scores: first
//            the documents known by number, each kind by ascending key.
//   Threads  not thread-safe.
class TopDocuments {
 public:
  // Keeps at most `capacity` documents, at least 1, that score `min_score` or
  // more.
  TopDocuments(std::size_t capacity, float min_score)
      : capacity_(capacity), min_score_(min_score) {}

  // A document with a lower score has no place if the query names it no better
  // than `name`.
  float least_score(NameMatch name = NameMatch::kNone) const {
    const CatalogHit* const last = worst();
    if (last == nullptr || name > last->name) return min_score_;
    return name == last->name ? std::max(min_score_, last->score)
                              : std::numeric_limits<float>::infinity();
  }
  // Whether a document of this score has a place only if the query names it
  // better than the worst hit.
  bool IsBelowWorst(float score) const {
    return worst() != nullptr && score < worst()->score;
  }
  // Requires of documents also what they need for a place in `other` by now.
  // The hits of both, which have the same capacity, are merged in the end.
  void RaiseFloor(const TopDocuments& other) {
    if (other.worst() != nullptr) floor_ = *other.worst();
  }
  // Whether Add would add the hit. The slots of all calls are of one snapshot.
  bool HasPlace(const CatalogSnapshot& snapshot, const CatalogHit& hit) const;
  // Adds the hit if it has a place.
  void Add(const CatalogSnapshot& snapshot, const CatalogHit& hit);
  // Removes and returns the hits, best first.
  std::vector<CatalogHit> Take(const CatalogSnapshot& snapshot);

 private:
  // The hit that others must surpass for a place; null = there is room.
  const CatalogHit* worst() const {
    if (hits_.size() == capacity_) return &hits_.front();
    return floor_.has_value() ? &*floor_ : nullptr;
  }

  std::size_t capacity_;
  float min_score_;
  std::optional<CatalogHit> floor_;
  std::vector<CatalogHit> hits_;  // a heap with the worst in front
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_CATALOG_SEARCH_SCAN_QUERY_H_
