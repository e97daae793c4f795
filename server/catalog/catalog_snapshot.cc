#include "server/catalog/catalog_snapshot.h"

#include <string>
#include <utility>
#include <variant>

namespace semrank {

ModelRows::ModelRows(const ServedModel& served)
    : vectors(served.number, served.model->row_format()),
      sparse(SparseRows::HasRows(*served.model)
                 ? std::make_unique<SparseRows>(*served.model)
                 : nullptr) {}

absl::Status ModelRows::Reserve(std::size_t num_slots) {
  if (sparse != nullptr) sparse->Reserve(num_slots);
  return vectors.Reserve(num_slots);
}

std::size_t ModelRows::num_bytes() const {
  return vectors.num_bytes() + (sparse == nullptr ? 0 : sparse->num_bytes());
}

CatalogCommits::CatalogCommits(const CatalogSlots& slots)
    : slots_(slots), fingerprint_(Fingerprinter::RandomSecret()) {}

CatalogSnapshot CatalogCommits::TakeSnapshot() const {
  CatalogSnapshot snapshot;
  snapshot.commits_ = this;
  snapshot.slots_ = &slots_;
  const MutexLock lock(mutex_);
  snapshot.state_ = state_;
  // Commits only rise, so the pins are sorted and the first is the oldest.
  if (pins_.empty() || pins_.back().commit != state_.commit) {
    pins_.push_back({state_.commit, 0});
  }
  ++pins_.back().count;
  return snapshot;
}

void CatalogCommits::Publish(CatalogState state) {
  // The one before is destroyed without the lock, because that may free an
  // index or a model's rows.
  const MutexLock lock(mutex_);
  std::swap(state_, state);
}

CommitNumber CatalogCommits::OldestRead() const {
  const MutexLock lock(mutex_);
  return pins_.empty() ? state_.commit : pins_.front().commit;
}

void CatalogCommits::Unpin(CommitNumber commit) const {
  const MutexLock lock(mutex_);
  const auto pin = std::ranges::find(pins_, commit, &Pin::commit);
  if (--pin->count == 0) pins_.erase(pin);
}

std::uint64_t CatalogCommits::HashOf(const DocumentKeyView& key) const {
  const auto* const number = std::get_if<std::uint64_t>(&key);
  if (number == nullptr) return fingerprint_(std::get<1>(key)).lo;
  return fingerprint_({reinterpret_cast<const char*>(number), sizeof(*number)})
      .lo;
}

CatalogSnapshot::CatalogSnapshot(CatalogSnapshot&& other) noexcept
    : commits_(std::exchange(other.commits_, nullptr)),
      slots_(other.slots_),
      state_(std::move(other.state_)) {}

CatalogSnapshot& CatalogSnapshot::operator=(CatalogSnapshot&& other) noexcept {
  std::swap(commits_, other.commits_);
  std::swap(slots_, other.slots_);
  std::swap(state_, other.state_);
  return *this;
}

void CatalogSnapshot::Release() {
  if (commits_ != nullptr) commits_->Unpin(state_.commit);
  commits_ = nullptr;
  state_ = CatalogState();
}

std::vector<float> CatalogSnapshot::vector(std::uint32_t slot) const {
  std::vector<float> vector(row_format().dim);
  if (!vector.empty()) DecodeRow(row(slot), row_format(), vector.data());
  return vector;
}

std::optional<std::uint32_t> CatalogSnapshot::Find(
    const DocumentKeyView& key) const {
  return Find(key, commits_->HashOf(key));
}

std::optional<std::uint32_t> CatalogSnapshot::Find(const DocumentKeyView& key,
                                                   std::uint64_t hash) const {
  return state_.index->Find(hash, [&](std::uint32_t slot) {
    // The index may know slots that are newer than this view.
    return slot < state_.num_slots && IsSeen(slot) && slots_->HasKey(slot, key);
  });
}

void CatalogSnapshot::FindBlock(std::span<const DocumentKeyView> keys,
                                std::span<std::uint32_t> slots) const {
  // Passes over the keys (index, slot, record of a name): each prefetches what
  // the next reads.
  std::array<std::uint64_t, kFindBlock> hashes;
  std::array<std::uint32_t, kFindBlock> guesses;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    hashes[i] = commits_->HashOf(keys[i]);
    state_.index->Prefetch(hashes[i]);
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    guesses[i] = state_.index->Guess(hashes[i]).value_or(kNoSlot);
    if (guesses[i] >= state_.num_slots) guesses[i] = kNoSlot;
    if (guesses[i] == kNoSlot) continue;
    slots_->Prefetch(guesses[i], state_.commit);
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (guesses[i] == kNoSlot || !CatalogSlots::NeedsRecord(keys[i])) continue;
    if (IsSeen(guesses[i])) __builtin_prefetch(&record(guesses[i]));
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    // Nearly always, so the index is rarely searched again.
    const std::uint32_t guess = guesses[i];
    const bool right =
        guess != kNoSlot && IsSeen(guess) && slots_->HasKey(guess, keys[i]);
    slots[i] = right ? guess : Find(keys[i], hashes[i]).value_or(kNoSlot);
  }
}

}  // namespace semrank
