#include "server/catalog/sync/catalog_reconciler.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <string>

#include "model/base/status_macros.h"
#include "server/base/logging.h"
#include "server/vectors/text_batch.h"

namespace semrank {
namespace {

constexpr std::size_t kReadBatchDocuments = 1'024;

absl::Status CheckStop(const CatalogReconciler::Stop& stop) {
  if (stop == nullptr || !stop()) return absl::OkStatus();
  return absl::CancelledError("stopped before the catalog was loaded");
}

// The changes of the catalog that one pass over documents of the store makes.
class Pass {
 public:
  Pass(DocumentCatalog* catalog, const TextEmbedder* embedder)
      : catalog_(*catalog),
        embedder_(*embedder),
        // Waits for the writer: a document that this server has written to the
        // store and not yet made visible would look like another server's.
        before_(catalog->TakeSettledSnapshot()),
        was_read_(before_.num_slots()) {}

  // Adds a document that the store has, if it differs from the catalog's.
  void Add(const StoredDocument& document);
  std::size_t num_added() const { return records_.size(); }
  // Puts the documents that were added.
  absl::Status Flush();
  // Deletes documents, if the catalog had them when the pass began.
  absl::Status Delete(std::span<const DocumentKeyView> keys);
  absl::Status DeleteUnread();

  const CatalogReconciler::Counts& counts() const { return counts_; }

 private:
  // The vector that the store has for a document.
  struct StoredVector {
    std::size_t model;  // an index of models_
    std::size_t first;  // an index of values_
    std::size_t dim;
  };

  bool IsInCatalog(std::uint32_t slot, const StoredDocument& document) const;
  std::size_t NumberOf(std::string_view model);
  absl::Status Put();
  // Row-major [records_.size(), dim]: the vectors of this model.
  absl::StatusOr<std::vector<float>> RowsOf(const ServedModel& served);

  DocumentCatalog& catalog_;
  const TextEmbedder& embedder_;
  const CatalogSnapshot before_;
  std::vector<bool> was_read_;  // by slot of before_
  CatalogReconciler::Counts counts_;
  std::vector<CatalogRecord::Pointer> records_;
  std::vector<StoredVector> vectors_;  // parallel to records_
  std::vector<std::string> models_;
  std::vector<float> values_;
};

bool Pass::IsInCatalog(std::uint32_t slot,
                       const StoredDocument& document) const {
  const CatalogRecord& record = before_.record(slot);
  return record.title() == document.title &&
         record.payload() == document.payload &&
         record.packed_tags() == document.packed_tags;
}

// Nearly all documents have the same model, whose identity has 64 digits.
std::size_t Pass::NumberOf(std::string_view model) {
  const auto known = std::ranges::find(models_, model);
  const std::size_t number = known - models_.begin();
  if (known == models_.end()) models_.emplace_back(model);
  return number;
}

// Copies what it keeps, because the views of `document` end with the visit.
void Pass::Add(const StoredDocument& document) {
  ++counts_.num_documents;
  if (const auto slot = before_.Find(document.key)) {
    // Also if its content differs: DeleteUnread must keep it.
    was_read_[*slot] = true;
    if (IsInCatalog(*slot, document)) return;
  }
  records_.push_back(CatalogRecord::Make(
      document.key, document.title, document.payload, document.packed_tags));
  vectors_.push_back(
      {NumberOf(document.model), values_.size(), document.vector.size()});
  values_.insert(values_.end(), document.vector.begin(), document.vector.end());
}

absl::Status Pass::Flush() {
  if (records_.empty()) return absl::OkStatus();
  absl::Status put = Put();
  // A next model was added: try again, with its vectors too.
  while (absl::IsAborted(put)) put = Put();
  records_.clear();
  vectors_.clear();
  models_.clear();
  values_.clear();
  return put;
}

absl::Status Pass::Put() {
  std::vector<std::vector<float>> values;
  std::vector<DocumentCatalog::Rows> rows;
  for (const ServedModelPtr& served : catalog_.Models()) {
    SEMRANK_ASSIGN_OR_RETURN(values.emplace_back(), RowsOf(*served));
    rows.push_back({served, values.back().data()});
  }
  SEMRANK_ASSIGN_OR_RETURN(const DocumentCatalog::PutCounts counts,
                           catalog_.Put(records_, rows, nullptr, &before_));
  counts_.num_put += counts.num_created + counts.num_replaced;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<float>> Pass::RowsOf(const ServedModel& served) {
  const auto dim = static_cast<std::size_t>(served.model->embedding_dim());
  const std::size_t model = NumberOf(served.model->version().identity);
  std::vector<float> rows(records_.size() * dim);
  std::vector<std::size_t> missing;
  SliceScratch& scratch = ThreadSliceScratch();
  scratch.normalized.Clear();
  for (std::size_t i = 0; i < records_.size(); ++i) {
    // A title whose vector is another model's is embedded.
    if (vectors_[i].model == model && vectors_[i].dim == dim) {
      std::copy_n(values_.data() + vectors_[i].first, dim,
                  rows.data() + i * dim);
      continue;
    }
    missing.push_back(i);
    SEMRANK_RETURN_IF_ERROR(scratch.normalized.Add(
        records_[i]->title(), served.model->normalizer_version()));
  }
  if (missing.empty()) return rows;
  scratch.rows.resize(missing.size() * dim);
  PhaseTimes times;
  SEMRANK_RETURN_IF_ERROR(embedder_.Embed({served, BackgroundCaller(), times},
                                          Side::kDocument, scratch.normalized,
                                          scratch.rows.data()));
  for (std::size_t i = 0; i < missing.size(); ++i) {
    std::copy_n(scratch.rows.data() + i * dim, dim,
                rows.data() + missing[i] * dim);
  }
  counts_.num_embedded += static_cast<std::int64_t>(missing.size());
  return rows;
}

absl::Status Pass::Delete(std::span<const DocumentKeyView> keys) {
  std::vector<DocumentKeyView> known;
  std::ranges::copy_if(keys, std::back_inserter(known),
                       [this](const DocumentKeyView& key) {
                         return before_.Find(key).has_value();
                       });
  if (known.empty()) return absl::OkStatus();
  std::vector<bool> found;
  SEMRANK_ASSIGN_OR_RETURN(const std::uint32_t num_deleted,
                           catalog_.Delete(known, found, nullptr, &before_));
  counts_.num_deleted += num_deleted;
  return absl::OkStatus();
}

// Only the catalog knows which documents the store no longer has: it visits
// those that it has.
absl::Status Pass::DeleteUnread() {
  std::vector<DocumentKeyView> keys;
  for (std::uint32_t slot = 0; slot < before_.num_slots(); ++slot) {
    if (before_.IsVisible(slot) && !was_read_[slot]) {
      keys.push_back(before_.record(slot).key());
    }
  }
  return Delete(keys);
}

}  // namespace

absl::StatusOr<CatalogReconciler::Counts> CatalogReconciler::Load(
    const Stop& stop) {
  if (store_ == nullptr) return Counts();
  SEMRANK_ASSIGN_OR_RETURN(const Counts counts, Reread(stop));
  if (counts.num_embedded == 0) return counts;
  const absl::Status stored = WriteBack(stop);
  if (absl::IsCancelled(stored)) return stored;
  // The catalog is complete in memory. A full store that ended the start would
  // end each restart too.
  if (!stored.ok()) {
    LogWarning("the next start embeds the catalog again: %s", stored.message());
  }
  return counts;
}

absl::StatusOr<CatalogReconciler::Counts> CatalogReconciler::Reread(
    const Stop& stop) {
  // Each round is a pass of its own, with a snapshot from before it reads.
  for (;;) {
    Pass pass(&catalog_, &embedder_);
    absl::Status full;
    const auto flush = [&]() -> absl::Status {
      SEMRANK_RETURN_IF_ERROR(CheckStop(stop));
      const absl::Status put = pass.Flush();
      // No error yet: only a complete pass shows which documents are deleted
      // and make room.
      if (!absl::IsResourceExhausted(put)) return put;
      full = put;
      return absl::OkStatus();
    };
    SEMRANK_RETURN_IF_ERROR(
        store_->LoadDocuments([&](const StoredDocument& document) {
          pass.Add(document);
          return pass.num_added() < kReadBatchDocuments ? absl::OkStatus()
                                                        : flush();
        }));
    SEMRANK_RETURN_IF_ERROR(flush());
    SEMRANK_RETURN_IF_ERROR(pass.DeleteUnread());
    if (full.ok()) return pass.counts();
    // The deleted documents have made room, perhaps enough: try again.
    if (pass.counts().num_deleted == 0) return full;
  }
}

absl::StatusOr<CatalogReconciler::Counts> CatalogReconciler::Refresh(
    std::vector<DocumentKey> keys, ChangeLog& log, const Stop& stop) {
  SEMRANK_RETURN_IF_ERROR(CheckStop(stop));
  // A document that was changed several times is read once.
  std::ranges::sort(keys);
  // Not std::ranges::unique: clang 14 cannot compile GCC 12's subrange.
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  Pass pass(&catalog_, &embedder_);
  std::vector<DocumentKeyView> gone;
  const absl::Status found = log.FindDocuments(
      keys, [&](std::size_t i, const StoredDocument* document) {
        if (document != nullptr) {
          pass.Add(*document);
        } else {
          gone.push_back(ViewOf(keys[i]));
        }
      });
  // After DataLoss the visits are complete but for the damaged documents, which
  // stay as the catalog has them.
  if (!found.ok() && !absl::IsDataLoss(found)) return found;
  // Deletes first, because they make room.
  SEMRANK_RETURN_IF_ERROR(pass.Delete(gone));
  SEMRANK_RETURN_IF_ERROR(pass.Flush());
  SEMRANK_RETURN_IF_ERROR(found);
  return pass.counts();
}

// Writes only vectors, so that documents that other servers have put since stay
// as they are.
absl::Status CatalogReconciler::WriteBack(const Stop& stop) const {
  const CatalogSnapshot snapshot = catalog_.TakeSnapshot();
  std::vector<StoredDocument> documents;
  std::deque<std::vector<float>> vectors;  // viewed by `documents`
  for (std::uint32_t slot = 0; slot < snapshot.num_slots(); ++slot) {
    if (snapshot.IsVisible(slot)) {
      vectors.push_back(snapshot.vector(slot));
      documents.push_back(ToStoredDocument(
          *snapshot.model(), snapshot.record(slot), vectors.back().data()));
    }
    const bool last = slot + 1 == snapshot.num_slots();
    if (documents.size() < kReadBatchDocuments && !last) continue;
    SEMRANK_RETURN_IF_ERROR(CheckStop(stop));
    // In batches, because documents and vectors are copied for the call.
    SEMRANK_RETURN_IF_ERROR(store_->ReplaceVectors(documents));
    documents.clear();
    vectors.clear();
  }
  return absl::OkStatus();
}

}  // namespace semrank
