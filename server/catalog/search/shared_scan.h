// The scans of the searches in flight. Reading the catalog is most of what a
// scan costs alone, so a thread that scans a piece of it for one search scans
// it for others that still need this piece too.
//
//   Order    a search begins where the others are, goes round and ends where it
//            began; it never waits for another one to come.
//   Result   the same whichever thread scans what together with which others,
//            by the order of TopDocuments.
#ifndef SEMRANK_SERVER_CATALOG_SEARCH_SHARED_SCAN_H_
#define SEMRANK_SERVER_CATALOG_SEARCH_SHARED_SCAN_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "model/base/mutex.h"
#include "server/base/worker_pool.h"
#include "server/catalog/search/catalog_scan.h"
#include "server/catalog/store/document_catalog.h"

namespace semrank {

class SharedScan;

// Who scans what next. Scans take a piece together if their snapshots have the
// same rows and bounds of them can be shared (PreparedScan::SharesRowsWith).
//
//   Threads  every method, from any thread. One mutex, held for a look at each
//            scan; never while one is scanned.
class ScanGroup {
 public:
  // Scans that one thread takes through a piece.
  struct Pass {
    std::vector<SharedScan*> scans;
    std::size_t piece = 0;
  };

  ScanGroup() = default;
  ScanGroup(const ScanGroup&) = delete;
  ScanGroup& operator=(const ScanGroup&) = delete;

  void Join(SharedScan* scan, std::size_t num_pieces);
  // Hands out no further piece of the scan; returns once no thread scans one.
  // Nothing if it has left.
  void Leave(const SharedScan* scan);

  // Takes a piece that `scan` needs, for it and the oldest others that need it
  // too. Nothing if all are taken. None of the scans leaves before EndPass.
  std::optional<Pass> BeginPass(const SharedScan* scan);
  // The same for the oldest scan that needs one.
  std::optional<Pass> BeginPassOfOldest();
  void EndPass(const Pass& pass);

  // Whether all pieces have been scanned; waits until they are.
  bool IsComplete(const SharedScan* scan) const;
  void WaitUntilComplete(const SharedScan* scan);

 private:
  struct Member {
    SharedScan* scan = nullptr;
    std::vector<bool> needed;  // by piece
    std::size_t num_needed = 0;
    int num_passes = 0;  // that have not ended

    bool Needs(std::size_t piece) const {
      return piece < needed.size() && needed[piece];
    }
    bool is_complete() const { return num_needed == 0 && num_passes == 0; }
  };
  Member& Find(const SharedScan* scan) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::optional<Pass> BeginPass(const Member& first)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  CondVar pass_ended_;
  // The oldest first.
  std::vector<Member> members_ ABSL_GUARDED_BY(mutex_);
  // Behind the last piece that was taken.
  std::size_t next_piece_ ABSL_GUARDED_BY(mutex_) = 0;
};

// The scan of one search, on which several threads may work: each takes the
// next piece of the catalog.
//
//   Threads  every method, from any thread. No lock is held while scanning.
class SharedScan : public std::enable_shared_from_this<SharedScan> {
 public:
  struct Options {
    std::size_t top_k = 0;
    float min_score = 0;
    // The same for all scans of a group that share rows.
    std::size_t piece_slots = 0;  // a multiple of 64
    // What a slice scans, summed over the searches that it is scanned for; at
    // least a piece.
    std::size_t slice_slots = 0;
  };

  // Snapshot and query must stay until Stop has returned.
  SharedScan(std::shared_ptr<ScanGroup> group, const CatalogSnapshot* snapshot,
             const ScanQuery* query, const Options& options);

  // Joins the group. Has threads of `helpers`, which must outlive them, run
  // slices too, one at a time between their other work, as many as are of use;
  // null = no threads.
  void Start(WorkerPool* helpers);

  // One slice, in the thread of the search. Once all pieces of this scan are
  // taken, scans others while threads are at its last ones; if there are no
  // others, waits for these threads. Returns whether the scan is complete.
  bool RunSlice();

  // Ends a scan that was started, complete or not. May be called again.
  void Stop();
  // After Stop: best first, and how many documents were scored.
  std::vector<CatalogHit> TakeHits();
  std::size_t num_scored() const;

  const PreparedScan& prepared() const { return scan_; }

 private:
  void Help(WorkerPool& helpers);
  // False if there was no piece to take.
  bool ScanPieces();
  // Scans the pass to its end.
  void Run(const ScanGroup::Pass& pass);
  ScanTask BeginTask() const;
  void EndTask(ScanTask task);

  const std::shared_ptr<ScanGroup> group_;
  const Options options_;
  const PreparedScan scan_;

  mutable Mutex mutex_;
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

#endif  // SEMRANK_SERVER_CATALOG_SEARCH_SHARED_SCAN_H_
