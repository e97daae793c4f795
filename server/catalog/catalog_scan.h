// Scores the documents of the catalog against a query, in one pass over their
// vectors in the order in which they lie in memory.
//
//   Score    to the last bit the one that Rank gives the same pair.
//   Cost     reading the vectors: about 20 ns a document of 128 dims. With a
//            sparse part (SSI) each title is read too: about a microsecond.
#ifndef SEMRANK_SERVER_CATALOG_CATALOG_SCAN_H_
#define SEMRANK_SERVER_CATALOG_CATALOG_SCAN_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "model/base/mutex.h"
#include "server/base/worker_pool.h"
#include "server/catalog/document_catalog.h"

namespace semrank {

struct CatalogHit {
  std::uint32_t slot = 0;
  float score = 0;
};

// The best documents seen so far.
//
//   Order    score falling; equal scores: numbers before names, each ascending.
//   Threads  one.
class TopDocuments {
 public:
  // At most `capacity`, at least 1, of those that score at least `min_score`.
  TopDocuments(std::size_t capacity, float min_score)
      : capacity_(capacity), min_score_(min_score) {}

  // No document with a lower score has a place.
  float least_score() const {
    return hits_.size() < capacity_ ? min_score_ : hits_.front().score;
  }
  // Where the hit belongs, if it has a place. Slots are of `snapshot`, the same
  // in every call.
  void Add(const DocumentCatalog::Snapshot& snapshot, CatalogHit hit);
  // Best first; nothing is left.
  std::vector<CatalogHit> Take(const DocumentCatalog::Snapshot& snapshot);

 private:
  const std::size_t capacity_;
  const float min_score_;
  // A heap with the worst in front.
  std::vector<CatalogHit> hits_;
};

struct ScanQuery {
  std::string_view text = {};  // normalised
  const float* row = nullptr;  // its vector, of the snapshot's model
  absl::flat_hash_set<std::uint32_t> excluded_slots = {};
};

// Adds the documents in slots [first, last) to `best`. `first` is a multiple of
// 64; slots from num_slots() on are passed over.
void ScanCatalog(const DocumentCatalog::Snapshot& snapshot,
                 const ScanQuery& query, std::size_t first, std::size_t last,
                 TopDocuments& best);

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
  // Best first; after Stop.
  std::vector<CatalogHit> TakeHits();

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
