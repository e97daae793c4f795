#include "server/catalog/store/document_catalog.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "server/base/errors.h"
#include "server/vectors/text_batch.h"

namespace semrank {
namespace {

absl::Status CatalogFull(std::size_t max_documents) {
  return MakeError(
      absl::StatusCode::kResourceExhausted, "CATALOG_FULL",
      absl::StrFormat("the catalog is full: --max_catalog_documents=%d",
                      max_documents),
      {{"limit", std::to_string(max_documents)},
       {"flag", "max_catalog_documents"}});
}

// The sparse rows of titles 0 to num_titles - 1, if the model has any.
template <typename TitleOf>
SparseBatch SparseRowsOf(const DocumentCatalog::Rows& of_model,
                         std::size_t num_titles, TitleOf title_of) {
  const TwoTowerModel& model = *of_model.model->model;
  if (!SparseRows::HasRows(model)) return {};
  TextBatch texts;
  std::vector<std::string_view> titles;
  for (std::size_t i = 0; i < num_titles; ++i) {
    // Cannot fail here: the catalog accepts only UTF-8.
    if (!texts.Add(title_of(i), model.normalizer_version()).ok())
      texts.AddNormalized("");
  }
  titles.reserve(texts.size());
  for (int i = 0; i < texts.size(); ++i) titles.push_back(texts[i]);
  return SparseRows::RowsOf(model, titles);
}

}  // namespace

// At most half of the slots hold documents, since one put that replaces all of
// them needs twice as many.
DocumentCatalog::DocumentCatalog(std::size_t max_documents)
    : max_documents_(std::min(max_documents, CatalogSlots::kMaxSlots / 2)),
      commits_(slots_),
      index_(std::make_shared<CatalogIndex>(0)) {
  const MutexLock lock(writer_mutex_);
  next_.index = index_;
  Publish();
}

CatalogSnapshot DocumentCatalog::TakeSettledSnapshot() const {
  // The writer holds this mutex from before_commit until the commit is visible.
  const MutexLock lock(writer_mutex_);
  return TakeSnapshot();
}

// A mutex of its own, because a writer may hold the other one while its store
// is slow.
DocumentCatalog::Stats DocumentCatalog::GetStats() const {
  const MutexLock lock(stats_mutex_);
  return stats_;
}

ServedModelPtr DocumentCatalog::NextModel() const {
  const MutexLock lock(writer_mutex_);
  return next_model_;
}

CommitNumber DocumentCatalog::NextModelCommit() const {
  const MutexLock lock(writer_mutex_);
  return next_model_commit_;
}

std::vector<ServedModelPtr> DocumentCatalog::Models() const {
  const MutexLock lock(writer_mutex_);
  std::vector<ServedModelPtr> models;
  for (const ServedModelPtr& model : {next_.model, next_model_}) {
    if (model != nullptr) models.push_back(model);
  }
  return models;
}

std::optional<std::uint32_t> DocumentCatalog::FindCurrent(
    std::uint64_t hash, const DocumentKeyView& key) const {
  return index_->Find(hash, [&](std::uint32_t slot) {
    return slots_.IsCurrent(slot) && slots_.record(slot).key() == key;
  });
}

bool DocumentCatalog::HasChanged(std::uint64_t hash, const DocumentKeyView& key,
                                 const CatalogSnapshot* since) const {
  if (since == nullptr) return false;
  // The index also has the removed slots, which may hold an older version.
  return index_
      ->Find(hash,
             [&](std::uint32_t slot) {
               return slots_.record(slot).key() == key &&
                      slots_.HasChanged(slot, since->commit());
             })
      .has_value();
}

absl::Status DocumentCatalog::CheckModels(std::span<const Rows> rows) const {
  for (const auto& model_rows : {rows_, next_rows_}) {
    if (model_rows == nullptr) continue;
    const bool there = std::ranges::any_of(rows, [&](const Rows& of_model) {
      return of_model.model->number == model_rows->vectors.model_number();
    });
    // CatalogWriter then embeds with that model too and tries again.
    if (!there) return absl::AbortedError("the catalog has another model now");
  }
  return absl::OkStatus();
}

// Snapshots keep the old table alive, so no reader waits.
void DocumentCatalog::GrowIndex(std::size_t num_more) {
  const std::size_t num_entries =
      next_.num_documents + removed_.size() + num_more;
  auto grown = std::make_shared<CatalogIndex>(num_entries);
  const auto add = [&](std::uint32_t slot) {
    grown->Insert(commits_.HashOf(slots_.record(slot).key()), slot);
  };
  for (std::uint32_t slot = 0; slot < next_.num_slots; ++slot) {
    if (slots_.IsCurrent(slot)) add(slot);
  }
  // Readers of older commits still find these, and FreeSlots removes them.
  for (const Removed& removed : removed_) add(removed.slot);
  index_ = std::move(grown);
  next_.index = index_;
}

// Allocates everything that the rest of a put needs, so that it cannot fail.
absl::Status DocumentCatalog::MakeRoom(std::size_t num_documents) {
  while (free_slots_.size() < num_documents) {
    const std::size_t first = slots_.num_slots();
    if (first == CatalogSlots::kMaxSlots) return CatalogFull(max_documents_);
    for (const auto& model_rows : {rows_, next_rows_}) {
      if (model_rows == nullptr) continue;
      SEMRANK_RETURN_IF_ERROR(
          model_rows->Reserve(first + CatalogSlots::kSlotsPerChunk));
    }
    slots_.AddChunk();
    // Descending, since slots are taken from the back: the lowest first.
    std::vector<std::uint32_t> more;
    for (std::size_t slot = slots_.num_slots(); slot-- > first;) {
      more.push_back(static_cast<std::uint32_t>(slot));
    }
    // In front of the slots that are free already, so that those are used
    // first: a scan visits every slot up to the highest one that was ever used.
    free_slots_.insert(free_slots_.begin(), more.begin(), more.end());
  }
  if (!index_->HasRoom(num_documents)) GrowIndex(num_documents);
  return absl::OkStatus();
}

absl::Status DocumentCatalog::CheckFits(
    std::span<const CatalogRecord::Pointer> records) const {
  const std::size_t room = max_documents_ - next_.num_documents;
  if (records.size() <= room) return absl::OkStatus();
  // Near the limit, count the new keys: the other records replace a document,
  // or one of this put with the same key.
  absl::flat_hash_set<DocumentKeyView> created;
  for (const CatalogRecord::Pointer& record : records) {
    const DocumentKeyView key = record->key();
    if (!FindCurrent(commits_.HashOf(key), key).has_value()) {
      created.insert(key);
    }
  }
  return created.size() <= room ? absl::OkStatus()
                                : CatalogFull(max_documents_);
}

void DocumentCatalog::SetRows(std::uint32_t slot, std::size_t i,
                              std::span<const NewRows> rows) {
  for (ModelRows* const model_rows : {rows_.get(), next_rows_.get()}) {
    if (model_rows == nullptr) continue;
    CatalogVectors& vectors = model_rows->vectors;
    // CheckModels has found each model among `rows`.
    const auto of_model = std::ranges::find_if(rows, [&](const NewRows& row) {
      return row.vectors.model->number == vectors.model_number();
    });
    vectors.Set(slot, of_model->vectors.rows + i * vectors.format().dim);
    if (model_rows->sparse != nullptr) {
      model_rows->sparse->Set(slot, of_model->sparse[i]);
    }
  }
}

// Readers of older commits than next_.commit may still use the segments that
// are replaced.
void DocumentCatalog::MakeSegments() {
  for (ModelRows* const model_rows : {rows_.get(), next_rows_.get()}) {
    if (model_rows == nullptr || model_rows->sparse == nullptr) continue;
    model_rows->sparse->MakeSegments(
        next_.commit, [&](std::uint32_t slot) { return !slots_.IsFree(slot); });
  }
}

absl::StatusOr<DocumentCatalog::PutCounts> DocumentCatalog::Put(
    std::span<CatalogRecord::Pointer> records, std::span<const Rows> rows,
    const BeforeCommit& before_commit, const CatalogSnapshot* since) {
  // Outside the lock, since this takes a microsecond or two a title.
  std::vector<NewRows> new_rows;
  for (const Rows& of_model : rows) {
    new_rows.push_back(
        {of_model, SparseRowsOf(of_model, records.size(), [&](std::size_t i) {
           return records[i]->title();
         })});
  }
  std::vector<NameKeys> names;
  for (const CatalogRecord::Pointer& record : records) {
    names.push_back(NameKeysOf(*record));
  }
  const MutexLock lock(writer_mutex_);
  SEMRANK_RETURN_IF_ERROR(CheckModels(rows));
  SEMRANK_RETURN_IF_ERROR(CheckFits(records));
  SEMRANK_RETURN_IF_ERROR(MakeRoom(records.size()));
  // The mutex is held during this write to the store, so that the store has the
  // commits in the order of the catalog.
  if (before_commit != nullptr) SEMRANK_RETURN_IF_ERROR(before_commit());

  // Nothing may fail from here on: the store already has the documents.
  PutCounts counts = {.model = next_.model};
  ++next_.commit;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const DocumentKeyView key = records[i]->key();
    const std::uint64_t hash = commits_.HashOf(key);
    // What was read before this server's own change must not undo that change.
    if (HasChanged(hash, key, since)) continue;
    const std::optional<std::uint32_t> old = FindCurrent(hash, key);
    const std::uint32_t slot = free_slots_.back();
    free_slots_.pop_back();
    // All of the slot is written before Add, which lets readers see it.
    SetRows(slot, i, new_rows);
    record_bytes_ += records[i]->num_bytes();
    const std::uint32_t tag_set = tag_sets_.Add(records[i]->packed_tags());
    slots_.Add(slot, next_.commit, {std::move(records[i]), tag_set, names[i]});
    index_->Insert(hash, slot);
    next_.num_slots = std::max<std::size_t>(next_.num_slots, slot + 1);
    // With one commit for both slots, a reader sees exactly one of them.
    if (old.has_value()) Remove(*old);
    ++(old.has_value() ? counts.num_replaced : counts.num_created);
  }
  next_.num_documents += counts.num_created;
  MakeSegments();
  Publish();
  return counts;
}

absl::StatusOr<std::uint32_t> DocumentCatalog::Delete(
    std::span<const DocumentKeyView> keys, std::vector<bool>& found,
    const BeforeCommit& before_commit, const CatalogSnapshot* since) {
  const MutexLock lock(writer_mutex_);
  if (before_commit != nullptr) SEMRANK_RETURN_IF_ERROR(before_commit());
  found.assign(keys.size(), false);
  ++next_.commit;
  std::uint32_t num_deleted = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::uint64_t hash = commits_.HashOf(keys[i]);
    const std::optional<std::uint32_t> slot = FindCurrent(hash, keys[i]);
    if (!slot.has_value() || HasChanged(hash, keys[i], since)) continue;
    found[i] = true;
    Remove(*slot);
    ++num_deleted;
  }
  next_.num_documents -= num_deleted;
  Publish();
  return num_deleted;
}

void DocumentCatalog::Remove(std::uint32_t slot) {
  slots_.Remove(slot, next_.commit);
  removed_.push_back({next_.commit, slot});
}

void DocumentCatalog::Publish() {
  next_.num_tag_sets = tag_sets_.num_numbers();
  commits_.Publish(next_);
  const CommitNumber oldest_read = commits_.OldestRead();
  FreeSlots(oldest_read);
  std::size_t num_bytes = record_bytes_ + slots_.num_bytes() +
                          index_->num_bytes() + tag_sets_.num_bytes();
  for (const auto& model_rows : {rows_, next_rows_, previous_rows_}) {
    if (model_rows == nullptr) continue;
    // The previous model's too: a search that began earlier may read them.
    if (model_rows->sparse != nullptr) {
      model_rows->sparse->FreeRetired(oldest_read);
    }
    num_bytes += model_rows->num_bytes();
  }
  const MutexLock lock(stats_mutex_);
  stats_ = {next_.num_documents, num_bytes};
}

// A document that was deleted with commit D is not visible as of D or later.
void DocumentCatalog::FreeSlots(CommitNumber oldest_read) {
  while (!removed_.empty() && removed_.front().commit <= oldest_read) {
    const std::uint32_t slot = removed_.front().slot;
    const CatalogRecord& record = slots_.record(slot);
    index_->Remove(commits_.HashOf(record.key()), slot);
    tag_sets_.Remove(record.packed_tags());
    record_bytes_ -= record.num_bytes();
    slots_.Free(slot);
    free_slots_.push_back(slot);
    removed_.pop_front();
  }
}

absl::Status DocumentCatalog::BeginModel(ServedModelPtr model) {
  const MutexLock lock(writer_mutex_);
  // Drops a model that is being prepared. Rows that a rollback has found stay:
  // it may begin again.
  if (next_rows_ != nullptr && next_model_commit_ > 0) {
    previous_rows_ = std::move(next_rows_);
    previous_commit_ = next_model_commit_;
  }
  next_rows_ = nullptr;
  next_model_ = nullptr;
  next_model_commit_ = 0;
  // `model` is already current; dropping the prepared model was all there was
  // to do.
  if (next_.model == model) return absl::OkStatus();
  const auto are_of_model = [&](const std::shared_ptr<ModelRows>& rows) {
    return rows != nullptr && rows->vectors.model_number() == model->number;
  };
  if (!are_of_model(rows_)) {
    // A rollback finds the rows of the previous model, and embeds only the
    // documents that were put since. A third model needs their memory.
    const bool is_rollback = are_of_model(previous_rows_);
    if (!is_rollback) previous_rows_ = nullptr;
    std::shared_ptr<ModelRows> model_rows =
        is_rollback ? previous_rows_ : std::make_shared<ModelRows>(*model);
    SEMRANK_RETURN_IF_ERROR(model_rows->Reserve(slots_.num_slots()));
    previous_rows_ = nullptr;
    if (is_rollback) next_model_commit_ = previous_commit_;
    // Without documents the model answers at once.
    if (next_.num_documents > 0) {
      next_rows_ = std::move(model_rows);
      next_model_ = std::move(model);
      return absl::OkStatus();
    }
    rows_ = std::move(model_rows);
  }
  next_.rows = rows_;
  next_.model = std::move(model);
  Publish();
  return absl::OkStatus();
}

void DocumentCatalog::AddRows(const CatalogSnapshot& snapshot,
                              std::span<const std::uint32_t> slots,
                              const float* rows, const VisitIndices& visit) {
  const Rows next = {NextModel(), rows};
  if (next.model == nullptr) return;
  const SparseBatch sparse = SparseRowsOf(
      next, slots.size(),
      [&](std::size_t i) { return snapshot.record(slots[i]).title(); });
  const MutexLock lock(writer_mutex_);
  // The snapshot keeps the slots from being freed and reused.
  assert(snapshot.IsOf(commits_) && next_rows_ != nullptr);
  const std::vector<std::size_t> current = CurrentOf(slots);
  if (visit != nullptr) visit(current);
  for (const std::size_t i : current) {
    CatalogVectors& vectors = next_rows_->vectors;
    vectors.Set(slots[i], rows + i * vectors.format().dim);
    if (next_rows_->sparse != nullptr) {
      next_rows_->sparse->Set(slots[i], sparse[i]);
    }
  }
  MakeSegments();
  if (next_rows_->sparse != nullptr) {
    next_rows_->sparse->FreeRetired(commits_.OldestRead());
  }
}

std::vector<std::size_t> DocumentCatalog::CurrentOf(
    std::span<const std::uint32_t> slots) const {
  std::vector<std::size_t> current;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots_.IsCurrent(slots[i])) current.push_back(i);
  }
  return current;
}

void DocumentCatalog::VisitCurrent(
    [[maybe_unused]] const CatalogSnapshot& snapshot,
    std::span<const std::uint32_t> slots, const VisitIndices& visit) const {
  const MutexLock lock(writer_mutex_);
  // As in AddRows.
  assert(snapshot.IsOf(commits_));
  visit(CurrentOf(slots));
}

void DocumentCatalog::FinishModel() {
  const MutexLock lock(writer_mutex_);
  assert(next_rows_ != nullptr);
  // Documents that are put from now on lack the old model's vectors. A commit
  // of its own, so that readers of older commits are known to use the old ones.
  previous_commit_ = next_.commit++;
  previous_rows_ = std::exchange(rows_, std::exchange(next_rows_, nullptr));
  next_.rows = rows_;
  next_.model = std::exchange(next_model_, nullptr);
  Publish();
}

}  // namespace semrank
