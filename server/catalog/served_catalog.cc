#include "server/catalog/served_catalog.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/base/status_macros.h"
#include "server/vectors/text_batch.h"

namespace semrank {
namespace {

constexpr std::size_t kLoadBatchDocuments = 1'024;

// Reads the documents of the store, a batch at a time. Vectors of the catalog's
// model are taken as they are. Documents that have another model's vector, or
// none, are embedded and then written back, so that the next start need not.
class CatalogLoader {
 public:
  using Counts = ServedCatalog::LoadCounts;

  CatalogLoader(DocumentStore* store, const TextEmbedder* embedder,
                DocumentCatalog* catalog);

  absl::StatusOr<Counts> Load(const std::function<bool()>& stop);

 private:
  absl::Status CheckStop() const;
  absl::Status Add(const StoredDocument& document);
  // Puts the documents gathered so far into the catalog.
  absl::Status Flush();
  absl::Status EmbedMissing();
  absl::Status WriteBack() const;

  DocumentStore& store_;
  const TextEmbedder& embedder_;
  DocumentCatalog& catalog_;
  const ServedModelPtr served_;
  std::function<bool()> stop_;
  Counts counts_;
  std::vector<CatalogRecord::Pointer> records_;
  std::vector<float> rows_;
  std::vector<std::size_t> missing_;  // records without a row
};

CatalogLoader::CatalogLoader(DocumentStore* store, const TextEmbedder* embedder,
                             DocumentCatalog* catalog)
    : store_(*store),
      embedder_(*embedder),
      catalog_(*catalog),
      served_(catalog->TakeSnapshot().model()) {}

absl::StatusOr<ServedCatalog::LoadCounts> CatalogLoader::Load(
    const std::function<bool()>& stop) {
  stop_ = stop;
  SEMRANK_RETURN_IF_ERROR(store_.LoadDocuments(
      [this](const StoredDocument& document) { return Add(document); }));
  SEMRANK_RETURN_IF_ERROR(Flush());
  if (counts_.num_embedded > 0) SEMRANK_RETURN_IF_ERROR(WriteBack());
  return counts_;
}

absl::Status CatalogLoader::CheckStop() const {
  if (stop_ == nullptr || !stop_()) return absl::OkStatus();
  return absl::CancelledError("stopped before the catalog was loaded");
}

absl::Status CatalogLoader::Add(const StoredDocument& document) {
  const auto dim = static_cast<std::size_t>(served_->model->embedding_dim());
  records_.push_back(CatalogRecord::Make(
      document.key, document.title, document.payload, document.packed_tags));
  const bool has_row = document.model == served_->model->version().identity &&
                       document.vector.size() == dim;
  if (has_row) {
    rows_.insert(rows_.end(), document.vector.begin(), document.vector.end());
  } else {
    missing_.push_back(records_.size() - 1);
    rows_.resize(rows_.size() + dim);
  }
  return records_.size() < kLoadBatchDocuments ? absl::OkStatus() : Flush();
}

absl::Status CatalogLoader::Flush() {
  SEMRANK_RETURN_IF_ERROR(CheckStop());
  SEMRANK_RETURN_IF_ERROR(EmbedMissing());
  const DocumentCatalog::Rows rows = {served_, rows_.data()};
  SEMRANK_RETURN_IF_ERROR(catalog_.Put(records_, {&rows, 1}).status());
  counts_.num_documents += static_cast<std::int64_t>(records_.size());
  counts_.num_embedded += static_cast<std::int64_t>(missing_.size());
  records_.clear();
  rows_.clear();
  missing_.clear();
  return absl::OkStatus();
}

absl::Status CatalogLoader::EmbedMissing() {
  const std::size_t dim = served_->model->embedding_dim();
  SliceScratch& scratch = ThreadSliceScratch();
  scratch.normalized.Clear();
  for (const std::size_t i : missing_) {
    SEMRANK_RETURN_IF_ERROR(scratch.normalized.Add(records_[i]->title()));
  }
  scratch.rows.resize(missing_.size() * dim);
  StageTimes times;
  SEMRANK_RETURN_IF_ERROR(embedder_.Embed({*served_, BackgroundCaller(), times},
                                          Side::kDocument, scratch.normalized,
                                          scratch.rows.data()));
  for (std::size_t i = 0; i < missing_.size(); ++i) {
    std::copy_n(scratch.rows.data() + i * dim, dim,
                rows_.data() + missing_[i] * dim);
  }
  return absl::OkStatus();
}

absl::Status CatalogLoader::WriteBack() const {
  const DocumentCatalog::Snapshot snapshot = catalog_.TakeSnapshot();
  std::vector<StoredDocument> documents;
  for (std::uint32_t slot = 0; slot < snapshot.num_slots(); ++slot) {
    if (snapshot.IsSeen(slot)) {
      documents.push_back(ToStoredDocument(*served_, snapshot.record(slot),
                                           snapshot.vector(slot)));
    }
    const bool last = slot + 1 == snapshot.num_slots();
    if (documents.size() < kLoadBatchDocuments && !last) continue;
    SEMRANK_RETURN_IF_ERROR(CheckStop());
    SEMRANK_RETURN_IF_ERROR(store_.PutDocuments(documents));
    documents.clear();
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ServedCatalog::LoadCounts> ServedCatalog::Load(
    const std::function<bool()>& stop) {
  if (store_ == nullptr) return LoadCounts();
  return CatalogLoader(store_, embedder_, &documents).Load(stop);
}

}  // namespace semrank
