// Scores the documents of the catalog against a query, in one pass over their
// vectors in the order in which they lie in memory.
//
//   Score    to the last bit the one that Rank gives the same pair.
//   Cost     reading the vectors' copies in 4 bits; few vectors are scored. A
//            lexical part adds, where its weight leaves many
//            documents a place, its postings: a nanosecond for each document
//            that has an n-gram of the query, for each of these n-grams. SSI's
//            words are read too.
#ifndef SEMRANK_SERVER_CATALOG_SEARCH_CATALOG_SCAN_H_
#define SEMRANK_SERVER_CATALOG_SEARCH_CATALOG_SCAN_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "model/nn/row_bounds.h"
#include "server/catalog/search/block_scorer.h"
#include "server/catalog/store/document_catalog.h"

namespace semrank {

struct CatalogHit {
  std::uint32_t slot = 0;
  float score = 0;
  NameMatch name = NameMatch::kNone;  // lifts the document
};

// The best documents seen so far.
//
//   Order    the name match falling, then the score; equal scores: numbers
//            before names, each ascending.
//   Threads  one.
class TopDocuments {
 public:
  // At most `capacity`, at least 1, of those that score at least `min_score`.
  TopDocuments(std::size_t capacity, float min_score)
      : capacity_(capacity), min_score_(min_score) {}

  // No document with a lower score has a place, unless its name matches.
  float least_score() const {
    if (hits_.size() < capacity_) return std::max(min_score_, floor_);
    return hits_.front().name == NameMatch::kNone
               ? hits_.front().score
               : std::numeric_limits<float>::infinity();
  }
  // Documents whose names do not match need this score: other documents, which
  // are counted elsewhere, take the places below it.
  void RaiseFloor(float score) { floor_ = score; }
  // Where the hit belongs, if it has a place. Slots are of `snapshot`, the same
  // in every call.
  void Add(const CatalogSnapshot& snapshot, CatalogHit hit);
  // Best first; nothing is left.
  std::vector<CatalogHit> Take(const CatalogSnapshot& snapshot);

 private:
  std::size_t capacity_;
  float min_score_;
  float floor_ = -std::numeric_limits<float>::infinity();
  // A heap with the worst in front.
  std::vector<CatalogHit> hits_;
};

// What one search brings to a scan.
struct ScanTask {
  const PreparedScan* scan = nullptr;
  TopDocuments best;
  // How many documents were scored, excluded ones included.
  std::size_t num_scored = 0;
};

// Scans that share a pass over memory: at most this many.
inline constexpr std::size_t kMaxSharedScans = kMaxBoundQueries;

// Adds the documents in slots [first, last) to each task's best. `first` is a
// multiple of 64; slots that a snapshot does not see are passed over for its
// task. Several tasks, at most kMaxSharedScans, share rows (SharesRowsWith).
void ScanCatalog(std::span<ScanTask> tasks, std::size_t first,
                 std::size_t last);

}  // namespace semrank

#endif  // SEMRANK_SERVER_CATALOG_SEARCH_CATALOG_SCAN_H_
