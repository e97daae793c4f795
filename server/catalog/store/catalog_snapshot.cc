#include "server/catalog/store/catalog_snapshot.h"

// The hash of a number is a few instructions when it is inlined.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <utility>

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
    : slots_(slots), secret_(Fingerprinter::RandomSecret()) {}

CatalogSnapshot CatalogCommits::TakeSnapshot() const {
  CatalogSnapshot snapshot;
  snapshot.commits_ = this;
  snapshot.slots_ = &slots_;
  const MutexLock lock(mutex_);
  // The lock makes all of the copy belong to one commit.
  snapshot.state_ = state_;
  // Commit numbers only increase, so the pins stay sorted, the oldest first.
  if (pins_.empty() || pins_.back().commit != state_.commit) {
    pins_.push_back({state_.commit, 0});
  }
  ++pins_.back().count;
  return snapshot;
}

void CatalogCommits::Publish(CatalogState state) {
  // The lock is destroyed first, then `state` with the previous one, since that
  // may free an index or a model's rows.
  const MutexLock lock(mutex_);
  std::swap(state_, state);
}

CommitNumber CatalogCommits::OldestRead() const {
  const MutexLock lock(mutex_);
  // Without readers only later snapshots count, and those see state_.
  return pins_.empty() ? state_.commit : pins_.front().commit;
}

void CatalogCommits::Unpin(CommitNumber commit) const {
  const MutexLock lock(mutex_);
  // A linear search: readers rarely hold more than three commits.
  const auto pin = std::ranges::find(pins_, commit, &Pin::commit);
  if (--pin->count == 0) pins_.erase(pin);
}

std::uint64_t CatalogCommits::HashOf(std::uint64_t number) const {
  return XXH3_64bits_withSecret(&number, sizeof(number), secret_.data(),
                                secret_.size());
}

std::uint64_t CatalogCommits::HashOf(std::string_view name) const {
  return XXH3_64bits_withSecret(name.data(), name.size(), secret_.data(),
                                secret_.size());
}

// A snapshot without commits_ is empty, so the destructor of `other` unpins
// nothing.
CatalogSnapshot::CatalogSnapshot(CatalogSnapshot&& other) noexcept
    : commits_(std::exchange(other.commits_, nullptr)),
      slots_(other.slots_),
      state_(std::move(other.state_)) {}

// The previous content is released with `other`.
CatalogSnapshot& CatalogSnapshot::operator=(CatalogSnapshot&& other) noexcept {
  std::swap(commits_, other.commits_);
  std::swap(slots_, other.slots_);
  std::swap(state_, other.state_);
  return *this;
}

// From Unpin on the writer may free slots that this snapshot saw.
void CatalogSnapshot::Release() {
  if (commits_ != nullptr) commits_->Unpin(state_.commit);
  commits_ = nullptr;
  state_ = CatalogState();
}

std::vector<float> CatalogSnapshot::vector(std::uint32_t slot) const {
  std::vector<float> vector(vectors().format().dim);
  vectors().Read(slot, vector);
  return vector;
}

void CatalogSnapshot::Score(std::span<const float> query,
                            std::span<const std::uint32_t> slots,
                            std::span<float> scores) const {
  // Reuses the memory of this thread's last query.
  thread_local BoundQuery prepared;
  if (vectors().is_split()) prepared.Prepare(query);
  vectors().Score(query, prepared, slots, scores);
}

std::optional<std::uint32_t> CatalogSnapshot::Find(
    const DocumentKeyView& key) const {
  return Find(key, commits_->HashOf(key));
}

template <typename Key>
std::optional<std::uint32_t> CatalogSnapshot::Find(const Key& key,
                                                   std::uint64_t hash) const {
  return state_.index->Find(hash, [&](std::uint32_t slot) {
    // The index may already have slots that are newer than this snapshot.
    return slot < state_.num_slots && IsVisible(slot) &&
           slots_->HasKey(slot, key);
  });
}

template <typename Key>
void CatalogSnapshot::FindBlock(std::span<const Key> keys,
                                std::span<std::uint32_t> slots) const {
  // Three passes over the keys (index, slot, record of a name) prefetch what
  // the next one reads.
  std::array<std::uint64_t, kFindBlock> hashes;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    hashes[i] = commits_->HashOf(keys[i]);
    state_.index->Prefetch(hashes[i]);
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    slots[i] = state_.index->Guess(hashes[i]).value_or(kNoSlot);
    if (slots[i] >= state_.num_slots) slots[i] = kNoSlot;
    if (slots[i] != kNoSlot) slots_->Prefetch(slots[i], state_.commit);
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (slots[i] == kNoSlot || !CatalogSlots::NeedsRecord(keys[i])) continue;
    if (IsVisible(slots[i])) __builtin_prefetch(&record(slots[i]));
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const bool right = slots[i] != kNoSlot && IsVisible(slots[i]) &&
                       slots_->HasKey(slots[i], keys[i]);
    // The guess is nearly always right.
    if (!right) slots[i] = Find(keys[i], hashes[i]).value_or(kNoSlot);
  }
}

template void CatalogSnapshot::FindBlock(std::span<const std::uint64_t>,
                                         std::span<std::uint32_t>) const;
template void CatalogSnapshot::FindBlock(std::span<const std::string_view>,
                                         std::span<std::uint32_t>) const;

}  // namespace semrank
