#include "server/catalog/search/shared_scan.h"

#include <algorithm>
#include <cassert>

namespace semrank {

void ScanGroup::Join(SharedScan* scan, std::size_t num_pieces) {
  const MutexLock lock(mutex_);
  members_.push_back({.scan = scan,
                      .needed = std::vector<bool>(num_pieces, true),
                      .num_needed = num_pieces});
}

// Threads that scan a piece refer to the snapshot and the query of its request,
// which end with it.
void ScanGroup::Leave(const SharedScan* scan) {
  const MutexLock lock(mutex_);
  const auto member = std::ranges::find(members_, scan, &Member::scan);
  if (member == members_.end()) return;
  member->needed.clear();
  member->num_needed = 0;
  // The wait releases the mutex: others may leave, and the member may move.
  while (!Find(scan).is_complete()) pass_ended_.Wait(mutex_);
  std::erase_if(members_, [&](const Member& m) { return m.scan == scan; });
}

ScanGroup::Member& ScanGroup::Find(const SharedScan* scan) {
  const auto member = std::ranges::find(members_, scan, &Member::scan);
  assert(member != members_.end());
  return *member;
}

std::optional<ScanGroup::Pass> ScanGroup::BeginPass(const SharedScan* scan) {
  const MutexLock lock(mutex_);
  // A helper may come after the search has left.
  const auto member = std::ranges::find(members_, scan, &Member::scan);
  if (member == members_.end()) return std::nullopt;
  return BeginPass(*member);
}

std::optional<ScanGroup::Pass> ScanGroup::BeginPassOfOldest() {
  const MutexLock lock(mutex_);
  for (const Member& member : members_) {
    if (member.num_needed > 0) return BeginPass(member);
  }
  return std::nullopt;
}

std::optional<ScanGroup::Pass> ScanGroup::BeginPass(const Member& first) {
  if (first.num_needed == 0) return std::nullopt;
  const std::size_t num_pieces = first.needed.size();
  std::size_t piece = next_piece_ % num_pieces;
  while (!first.Needs(piece)) piece = (piece + 1) % num_pieces;
  // The next thread continues behind it, for all searches alike: they then meet
  // at the same pieces.
  next_piece_ = piece + 1;

  Pass pass = {.scans = {first.scan}, .piece = piece};
  for (const Member& other : members_) {
    if (pass.scans.size() == kMaxSharedScans) break;
    if (other.scan != first.scan && other.Needs(piece) &&
        other.scan->prepared().SharesRowsWith(first.scan->prepared())) {
      pass.scans.push_back(other.scan);
    }
  }
  for (const SharedScan* const scan : pass.scans) {
    Member& member = Find(scan);
    member.needed[piece] = false;
    --member.num_needed;
    ++member.num_passes;
  }
  return pass;
}

void ScanGroup::EndPass(const Pass& pass) {
  const MutexLock lock(mutex_);
  for (const SharedScan* const scan : pass.scans) --Find(scan).num_passes;
  pass_ended_.NotifyAll();
}

bool ScanGroup::IsComplete(const SharedScan* scan) const {
  const MutexLock lock(mutex_);
  const auto member = std::ranges::find(members_, scan, &Member::scan);
  return member != members_.end() && member->is_complete();
}

void ScanGroup::WaitUntilComplete(const SharedScan* scan) {
  const MutexLock lock(mutex_);
  while (!Find(scan).is_complete()) pass_ended_.Wait(mutex_);
}

SharedScan::SharedScan(std::shared_ptr<ScanGroup> group,
                       const CatalogSnapshot* snapshot, const ScanQuery* query,
                       const Options& options)
    : group_(std::move(group)),
      options_(options),
      scan_(snapshot, query),
      best_(options.top_k, options.min_score) {}

void SharedScan::Start(WorkerPool* helpers) {
  const std::size_t num_slots = scan_.snapshot().num_slots();
  const std::size_t num_pieces =
      (num_slots + options_.piece_slots - 1) / options_.piece_slots;
  group_->Join(this, num_pieces);
  if (helpers == nullptr || num_pieces == 0) return;
  // The request's own thread runs a slice too.
  const std::size_t num_slices =
      (num_slots + options_.slice_slots - 1) / options_.slice_slots;
  const auto num_helpers =
      std::min<std::size_t>(num_slices - 1, helpers->num_threads() - 1);
  for (std::size_t i = 0; i < num_helpers; ++i) Help(*helpers);
}

void SharedScan::Help(WorkerPool& helpers) {
  // One slice, then back to the end of the queue like any other work.
  helpers.Submit([self = shared_from_this(), &helpers] {
    if (self->ScanPieces()) self->Help(helpers);
  });
}

bool SharedScan::RunSlice() {
  if (!ScanPieces() && !group_->IsComplete(this)) {
    if (const auto pass = group_->BeginPassOfOldest()) {
      Run(*pass);
    } else {
      group_->WaitUntilComplete(this);
    }
  }
  return group_->IsComplete(this);
}

bool SharedScan::ScanPieces() {
  std::size_t num_slots = 0;
  while (num_slots < options_.slice_slots) {
    const auto pass = group_->BeginPass(this);
    if (!pass.has_value()) break;
    Run(*pass);
    num_slots += options_.piece_slots * pass->scans.size();
  }
  return num_slots > 0;
}

void SharedScan::Run(const ScanGroup::Pass& pass) {
  std::vector<ScanTask> tasks;
  for (const SharedScan* const scan : pass.scans) {
    tasks.push_back(scan->BeginTask());
  }
  const std::size_t piece_slots = pass.scans[0]->options_.piece_slots;
  ScanCatalog(tasks, pass.piece * piece_slots, (pass.piece + 1) * piece_slots);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    pass.scans[i]->EndTask(std::move(tasks[i]));
  }
  group_->EndPass(pass);
}

// The piece begins with the worst of the best so far, and so gathers little
// that has no place in the end.
ScanTask SharedScan::BeginTask() const {
  TopDocuments best(options_.top_k, options_.min_score);
  const MutexLock lock(mutex_);
  best.RaiseFloor(best_.least_score());
  return {.scan = &scan_, .best = std::move(best)};
}

void SharedScan::EndTask(ScanTask task) {
  const std::vector<CatalogHit> hits = task.best.Take(scan_.snapshot());
  const MutexLock lock(mutex_);
  num_scored_ += task.num_scored;
  // In any order of the pieces: TopDocuments orders hits strictly.
  for (const CatalogHit& hit : hits) best_.Add(scan_.snapshot(), hit);
}

// Helpers that are still queued find nothing to take.
void SharedScan::Stop() { group_->Leave(this); }

std::size_t SharedScan::num_scored() const {
  const MutexLock lock(mutex_);
  return num_scored_;
}

std::vector<CatalogHit> SharedScan::TakeHits() {
  const MutexLock lock(mutex_);
  return best_.Take(scan_.snapshot());
}

}  // namespace semrank
