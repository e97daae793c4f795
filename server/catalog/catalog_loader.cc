#include "server/catalog/catalog_loader.h"

#include <algorithm>

#include "model/base/status_macros.h"
#include "server/vectors/thread_scratch.h"

namespace semrank {
namespace {

constexpr std::size_t kLoadBatchDocuments = 1'024;

// Nobody waits, nobody goes away.
class Patient final : public Caller {
 public:
  absl::Time deadline() const override { return absl::InfiniteFuture(); }
  bool gone() const override { return false; }
};

}  // namespace

CatalogLoader::CatalogLoader(DocumentStore* store, const TextEmbedder* embedder,
                             DocumentCatalog* catalog)
    : store_(*store),
      embedder_(*embedder),
      catalog_(*catalog),
      served_(catalog->TakeSnapshot().model()) {}

absl::StatusOr<CatalogLoader::Counts> CatalogLoader::Load(
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
  records_.push_back(
      CatalogRecord::Make(document.key, document.title, document.payload));
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
  TurnScratch& scratch = ThreadScratch();
  scratch.texts.Clear();
  for (const std::size_t i : missing_) {
    SEMRANK_RETURN_IF_ERROR(scratch.texts.Add(records_[i]->title()));
  }
  scratch.rows.resize(missing_.size() * dim);
  StageTimes times;
  SEMRANK_RETURN_IF_ERROR(
      embedder_.Embed(*served_, Side::kDocument, scratch.texts, Patient(),
                      scratch.embedder, scratch.rows.data(), times));
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

}  // namespace semrank
