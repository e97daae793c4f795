#include "server/catalog/search/shared_scan.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "server/catalog/search/scan_catalog.h"

// A pass scans one piece for several searches. Begin marks the piece as running
// while it holds the mutex. Run scans the piece without the mutex, merges the
// hits into each search and clears the mark. Leave waits until no piece of its
// search is running, so a pass never uses the query of an ended request.

namespace semrank {

void ScanGroup::Join(SharedScan* scan, std::size_t num_pieces) {
  const MutexLock lock(mutex_);
  members_.push_back({.scan = scan,
                      .needed = std::vector<bool>(num_pieces, true),
                      .num_needed = num_pieces});
}

void ScanGroup::Leave(const SharedScan* scan) {
  const MutexLock lock(mutex_);
  const auto member = std::ranges::find(members_, scan, &Member::scan);
  if (member == members_.end()) return;
  member->needed.clear();
  member->num_needed = 0;
  // Threads that scan a piece use the snapshot and the query of the request,
  // which ends after this. Others may leave during the wait, so the member may
  // move.
  while (!Find(scan).is_complete()) piece_ended_.Wait(mutex_);
  std::erase_if(members_, [&](const Member& m) { return m.scan == scan; });
}

ScanGroup::Member& ScanGroup::Find(const SharedScan* scan) {
  const auto member = std::ranges::find(members_, scan, &Member::scan);
  assert(member != members_.end());
  return *member;
}

std::size_t ScanGroup::ScanPieceFor(const SharedScan* scan) {
  Pass pass;
  {
    const MutexLock lock(mutex_);
    // A helper may come after the search has left.
    const auto member = std::ranges::find(members_, scan, &Member::scan);
    if (member == members_.end() || member->num_needed == 0) return 0;
    pass = Begin(*member);
  }
  Run(pass);
  return pass.scans.size();
}

bool ScanGroup::ScanPieceForOldest() {
  Pass pass;
  {
    const MutexLock lock(mutex_);
    const auto oldest = std::ranges::find_if(
        members_, [](const Member& member) { return member.num_needed > 0; });
    if (oldest == members_.end()) return false;
    pass = Begin(*oldest);
  }
  Run(pass);
  return true;
}

ScanGroup::Pass ScanGroup::Begin(const Member& first) {
  const std::size_t num_pieces = first.needed.size();
  std::size_t piece = next_piece_ % num_pieces;
  while (!first.Needs(piece)) piece = (piece + 1) % num_pieces;
  // The next thread continues after this piece, for whichever search, so that
  // the searches meet at the same pieces.
  next_piece_ = piece + 1;

  Pass pass = {.scans = {first.scan}, .piece = piece};
  for (const Member& other : members_) {
    if (pass.scans.size() == kMaxSharedScans) break;
    if (other.scan != first.scan && other.Needs(piece) &&
        other.scan->query_.SharesRowsWith(first.scan->query_)) {
      pass.scans.push_back(other.scan);
    }
  }
  for (const SharedScan* const scan : pass.scans) {
    Member& member = Find(scan);
    member.needed[piece] = false;
    --member.num_needed;
    ++member.num_running;
  }
  return pass;
}

void ScanGroup::Run(const Pass& pass) {
  std::vector<BlockScorer> scorers;
  scorers.reserve(pass.scans.size());
  for (const SharedScan* const scan : pass.scans) {
    scorers.emplace_back(scan->query_, scan->BeginPiece());
  }
  const std::size_t piece_slots = pass.scans[0]->options_.piece_slots;
  ScanCatalog(scorers, pass.piece * piece_slots,
              (pass.piece + 1) * piece_slots);
  for (std::size_t i = 0; i < scorers.size(); ++i) {
    pass.scans[i]->EndPiece(scorers[i]);
  }
  // After EndPiece: a thread that finds the scan complete must find all hits.
  const MutexLock lock(mutex_);
  for (const SharedScan* const scan : pass.scans) --Find(scan).num_running;
  piece_ended_.NotifyAll();
}

bool ScanGroup::IsComplete(const SharedScan* scan) const {
  const MutexLock lock(mutex_);
  const auto member = std::ranges::find(members_, scan, &Member::scan);
  return member != members_.end() && member->is_complete();
}

void ScanGroup::WaitUntilComplete(const SharedScan* scan) {
  const MutexLock lock(mutex_);
  while (!Find(scan).is_complete()) piece_ended_.Wait(mutex_);
}

SharedScan::SharedScan(std::shared_ptr<ScanGroup> group, const ScanQuery* query,
                       const Options& options)
    : group_(std::move(group)),
      options_(options),
      query_(*query),
      best_(options.top_k, options.min_score) {}

void SharedScan::Start(WorkerPool* helpers) {
  const std::size_t num_slots = query_.snapshot().num_slots();
  const std::size_t num_pieces =
      (num_slots + options_.piece_slots - 1) / options_.piece_slots;
  // Before the helpers start, which ask the group for pieces.
  group_->Join(this, num_pieces);
  if (helpers == nullptr || num_pieces == 0) return;
  // One less than there are slices and threads: the request's own thread runs
  // slices too.
  const std::size_t num_slices =
      (num_slots + options_.slice_slots - 1) / options_.slice_slots;
  const auto num_helpers =
      std::min<std::size_t>(num_slices - 1, helpers->num_threads() - 1);
  for (std::size_t i = 0; i < num_helpers; ++i) Help(*helpers);
}

void SharedScan::Help(WorkerPool& helpers) {
  // Submitted again for each slice, so that other work gets its turn. After
  // Stop a helper that is still queued finds no piece to take.
  helpers.Submit([self = shared_from_this(), &helpers] {
    if (self->ScanPieces()) self->Help(helpers);
  });
}

// A search that has no piece left helps another one in place of waiting, since
// threads that wait are lost for all requests.
bool SharedScan::RunSlice() {
  if (!ScanPieces() && !group_->IsComplete(this) &&
      !group_->ScanPieceForOldest()) {
    group_->WaitUntilComplete(this);
  }
  return group_->IsComplete(this);
}

bool SharedScan::ScanPieces() {
  std::size_t num_slots = 0;
  while (num_slots < options_.slice_slots) {
    const std::size_t num_scans = group_->ScanPieceFor(this);
    if (num_scans == 0) break;
    num_slots += options_.piece_slots * num_scans;
  }
  return num_slots > 0;
}

// Starting from the worst of the best documents so far, a piece collects few
// that have no place in the end.
TopDocuments SharedScan::BeginPiece() const {
  TopDocuments best(options_.top_k, options_.min_score);
  const MutexLock lock(mutex_);
  best.RaiseFloor(best_);
  return best;
}

void SharedScan::EndPiece(BlockScorer& scorer) {
  const std::vector<CatalogHit> hits = scorer.best().Take(query_.snapshot());
  const MutexLock lock(mutex_);
  num_scored_ += scorer.num_scored();
  // Few hits remain after BeginPiece, so the lock is held briefly.
  for (const CatalogHit& hit : hits) best_.Add(query_.snapshot(), hit);
}

void SharedScan::Stop() { group_->Leave(this); }

std::size_t SharedScan::num_scored() const {
  const MutexLock lock(mutex_);
  return num_scored_;
}

std::vector<CatalogHit> SharedScan::TakeHits() {
  const MutexLock lock(mutex_);
  return best_.Take(query_.snapshot());
}

}  // namespace semrank
