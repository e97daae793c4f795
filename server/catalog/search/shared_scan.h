// The scans of the searches in flight. Reading the rows is most of what a scan
// costs, so a thread that scans a piece of the catalog for one search also
// scans it for the others that still need this piece.
//
//   Order    a search begins at the piece that the others have reached, and
//            ends where it began; it never waits for another search.
//   Result   does not depend on which thread scans which piece, or for which
//            searches together (TopDocuments orders hits strictly).
#ifndef SEMRANK_SERVER_CATALOG_SEARCH_SHARED_SCAN_H_
#define SEMRANK_SERVER_CATALOG_SEARCH_SHARED_SCAN_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "model/base/mutex.h"
#include "server/base/worker_pool.h"
#include "server/catalog/search/block_scorer.h"
#include "server/catalog/search/scan_query.h"

namespace semrank {

class SharedScan;

// The scans in flight, and the pieces that each still needs. Scans whose
// queries share rows (ScanQuery::SharesRowsWith) take a piece together.
//
//   Threads  all methods are thread-safe. The mutex is held while the scans are
//            looked through, never while a piece is scanned.
class ScanGroup {
 public:
  ScanGroup() = default;
  ScanGroup(const ScanGroup&) = delete;
  ScanGroup& operator=(const ScanGroup&) = delete;

  void Join(SharedScan* scan, std::size_t num_pieces);
  // Removes the scan; waits until no thread scans a piece for it. Does nothing
  // if it has been removed.
  void Leave(const SharedScan* scan);

  // Scans a piece that `scan` needs, for it and for the oldest others that need
  // it too. Returns for how many scans; 0 if all pieces are taken or the scan
  // has been removed.
  std::size_t ScanPieceFor(const SharedScan* scan);
  // Scans a piece for the oldest scan that needs one. Returns false if none
  // does.
  bool ScanPieceForOldest();

  // Whether all pieces have been scanned.
  bool IsComplete(const SharedScan* scan) const;
  void WaitUntilComplete(const SharedScan* scan);

 private:
  struct Member {
    SharedScan* scan = nullptr;
    std::vector<bool> needed;  // by piece
    std::size_t num_needed = 0;
    int num_running = 0;  // pieces that threads are scanning

    bool Needs(std::size_t piece) const {
      return piece < needed.size() && needed[piece];
    }
    bool is_complete() const { return num_needed == 0 && num_running == 0; }
  };
  // A piece, and the scans that one thread scans it for.
  struct Pass {
    std::vector<SharedScan*> scans;
    std::size_t piece = 0;
  };
  Member& Find(const SharedScan* scan) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Takes a piece that `first` needs; none of the scans is removed before Run.
  Pass Begin(const Member& first) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Run(const Pass& pass);

  mutable Mutex mutex_;
  CondVar piece_ended_;
  std::vector<Member> members_ ABSL_GUARDED_BY(mutex_);  // the oldest first
  // Follows the last piece that was taken.
  std::size_t next_piece_ ABSL_GUARDED_BY(mutex_) = 0;
};

// The scan of one search, which several threads may run, piece by piece.
//
//   Threads  all methods are thread-safe. No lock is held while scanning.
class SharedScan : public std::enable_shared_from_this<SharedScan> {
 public:
  struct Options {
    std::size_t top_k = 0;
    float min_score = 0;
    // A multiple of 64; the same for all scans of a group that share rows.
    std::size_t piece_slots = 0;
    // The slots that one slice scans, summed over the scans that share a piece;
    // at least one piece.
    std::size_t slice_slots = 0;
  };

  // `query`, and what it points to, must stay until Stop has returned.
  SharedScan(std::shared_ptr<ScanGroup> group, const ScanQuery* query,
             const Options& options);

  // Joins the group. Lets as many threads of `helpers` as are of use run slices
  // too, between their other work; null = no threads. `helpers` must outlive
  // its threads.
  void Start(WorkerPool* helpers);

  // Runs one slice in the thread of the search. Once all pieces of this scan
  // are taken, scans pieces of others while threads run the last ones of this
  // scan; without others, waits for these threads. Returns whether the scan is
  // complete.
  bool RunSlice();

  // Ends the scan, complete or not. May be called again.
  void Stop();
  // After Stop: the hits, best first, and the number of documents scored.
  std::vector<CatalogHit> TakeHits();
  std::size_t num_scored() const;

 private:
  friend class ScanGroup;

  void Help(WorkerPool& helpers);
  // Returns false if there was no piece to take.
  bool ScanPieces();
  // An empty list that accepts only what may have a place in best_.
  TopDocuments BeginPiece() const;
  void EndPiece(BlockScorer& scorer);

  const std::shared_ptr<ScanGroup> group_;
  const Options options_;
  const ScanQuery& query_;

  mutable Mutex mutex_;
  std::size_t num_scored_ ABSL_GUARDED_BY(mutex_) = 0;
  TopDocuments best_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_CATALOG_SEARCH_SHARED_SCAN_H_
