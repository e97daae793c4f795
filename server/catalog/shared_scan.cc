#include "server/catalog/shared_scan.h"

#include <algorithm>

namespace semrank {

SharedScan::SharedScan(const DocumentCatalog::Snapshot* snapshot,
                       const ScanQuery* query, const Options& options)
    : snapshot_(*snapshot),
      query_(*query),
      options_(options),
      num_slots_(snapshot->num_slots()),
      best_(options.top_k, options.min_score) {}

void SharedScan::AskForHelp(WorkerPool& pool) {
  const std::size_t num_pieces =
      (num_slots_ + options_.piece_slots - 1) / options_.piece_slots;
  const auto num_helpers = std::min<std::size_t>(
      num_pieces == 0 ? 0 : num_pieces - 1, pool.num_threads() - 1);
  for (std::size_t i = 0; i < num_helpers; ++i) Help(pool);
}

void SharedScan::Help(WorkerPool& pool) {
  // One piece, then back to the end of the queue like any other work.
  pool.Submit([self = shared_from_this(), &pool] {
    if (self->ScanNext()) self->Help(pool);
  });
}

bool SharedScan::ScanNext() {
  std::size_t first = 0;
  float min_score = 0;
  {
    const MutexLock lock(mutex_);
    if (next_slot_ >= num_slots_) return false;
    first = next_slot_;
    next_slot_ += options_.piece_slots;
    min_score = best_.least_score();
    ++num_at_work_;
  }
  TopDocuments best(options_.top_k, min_score);
  ScanCatalog(snapshot_, query_, first, first + options_.piece_slots, best);
  const MutexLock lock(mutex_);
  for (const CatalogHit& hit : best.Take(snapshot_)) best_.Add(snapshot_, hit);
  if (--num_at_work_ == 0) idle_.NotifyAll();
  return true;
}

bool SharedScan::is_all_taken() const {
  const MutexLock lock(mutex_);
  return next_slot_ >= num_slots_;
}

void SharedScan::Stop() {
  const MutexLock lock(mutex_);
  next_slot_ = num_slots_;
  while (num_at_work_ > 0) idle_.Wait(mutex_);
}

std::vector<CatalogHit> SharedScan::TakeHits() {
  const MutexLock lock(mutex_);
  return best_.Take(snapshot_);
}

}  // namespace semrank
