// The scan of one search, on which several threads may work: each takes the
// next piece of the catalog that nobody has taken.
//
//   Result   the same whoever scans what: the order of hits is that of
//            TopDocuments.
//   Threads  every method, from any thread. No lock is held while scanning.
#ifndef SEMRANK_SERVER_CATALOG_SHARED_SCAN_H_
#define SEMRANK_SERVER_CATALOG_SHARED_SCAN_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "model/base/mutex.h"
#include "server/base/worker_pool.h"
#include "server/catalog/catalog_scan.h"
#include "server/catalog/document_catalog.h"
#include "server/catalog/top_documents.h"

namespace semrank {

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

  // No further piece is taken; returns once nobody works on one.
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

#endif  // SEMRANK_SERVER_CATALOG_SHARED_SCAN_H_
