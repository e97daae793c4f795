// Scores the documents of the catalog against a query, in one pass over their
// vectors in the order in which they lie in memory.
//
//   Score    to the last bit the one that Rank gives the same pair.
//   Cost     reading half of the vectors' 8-bit copies; few are scored in
//            float32. A lexical part adds, where its weight leaves many
//            documents a place, its postings: a nanosecond for each document
//            that has an n-gram of the query, for each of these n-grams. SSI's
//            words are read too.
#ifndef SEMRANK_SERVER_CATALOG_CATALOG_SCAN_H_
#define SEMRANK_SERVER_CATALOG_CATALOG_SCAN_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "model/base/mutex.h"
#include "server/base/worker_pool.h"
#include "server/catalog/block_scorer.h"
#include "server/catalog/document_catalog.h"

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
  float min_score() const { return min_score_; }
  // Where the hit belongs, if it has a place. Slots are of `snapshot`, the same
  // in every call.
  void Add(const DocumentCatalog::Snapshot& snapshot, CatalogHit hit);
  // Best first; nothing is left.
  std::vector<CatalogHit> Take(const DocumentCatalog::Snapshot& snapshot);

 private:
  const std::size_t capacity_;
  const float min_score_;
  float floor_ = -std::numeric_limits<float>::infinity();
  // A heap with the worst in front.
  std::vector<CatalogHit> hits_;
};

// Adds the documents in slots [first, last) to `best`. `first` is a multiple of
// 64; slots from num_slots() on are passed over. Returns how many documents
// were scored, excluded ones included.
std::size_t ScanCatalog(const DocumentCatalog::Snapshot& snapshot,
                        const ScanQuery& query, std::size_t first,
                        std::size_t last, TopDocuments& best);

// The scan of one search, on which several threads may work: each takes the
// next part of the catalog.
//
//   Result   the same whichever thread scans what, by the order of
//            TopDocuments.
//   Threads  every method, from any thread. No lock is held while scanning.
class SharedScan : public std::enable_shared_from_this<SharedScan> {
 public:
  struct Options {
    std::size_t top_k = 0;
    float min_score = 0;
    std::size_t piece_slots = 0;  // a multiple of 64
  };

  // Snapshot and query must stay until Stop has returned.
  SharedScan(const DocumentCatalog::Snapshot* snapshot, const ScanQuery* query,
             const Options& options);

  // Has threads of `pool`, which must outlive them, take pieces too, one at a
  // time between their other work. As many as are of use.
  void AskForHelp(WorkerPool& pool);

  // Scans the next piece. False when there was none.
  bool ScanNext();
  bool is_all_taken() const;

  // Hands out no further part; returns once no thread scans one.
  void Stop();
  // After Stop: best first, and the sum of what ScanCatalog returned.
  std::vector<CatalogHit> TakeHits();
  std::size_t num_scored() const;

 private:
  void Help(WorkerPool& pool);

  const DocumentCatalog::Snapshot& snapshot_;
  const ScanQuery& query_;
  const Options options_;
  const std::size_t num_slots_;

  mutable Mutex mutex_;
  CondVar idle_;
  std::size_t next_slot_ ABSL_GUARDED_BY(mutex_) = 0;
  int num_at_work_ ABSL_GUARDED_BY(mutex_) = 0;
  std::size_t num_scored_ ABSL_GUARDED_BY(mutex_) = 0;
  TopDocuments best_ ABSL_GUARDED_BY(mutex_);
};

// Stops the scan when it goes.
class SharedScanOwner {
 public:
  SharedScanOwner() = default;
  explicit SharedScanOwner(std::shared_ptr<SharedScan> scan)
      : scan_(std::move(scan)) {}
  ~SharedScanOwner() {
    if (scan_ != nullptr) scan_->Stop();
  }
  SharedScanOwner(SharedScanOwner&&) = default;
  SharedScanOwner& operator=(SharedScanOwner&&) = default;

  SharedScan* operator->() const { return scan_.get(); }
  explicit operator bool() const { return scan_ != nullptr; }

 private:
  std::shared_ptr<SharedScan> scan_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_CATALOG_CATALOG_SCAN_H_
