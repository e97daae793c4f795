#include "tests/support/fake_document_store.h"

#include <algorithm>
#include <utility>

#include "model/base/status_macros.h"
#include "server/stores/document_store.h"

namespace semrank {

void FakeDocumentStore::FailWith(absl::Status status) {
  MutexLock lock(mutex_);
  status_ = std::move(status);
}

int FakeDocumentStore::num_finds() const {
  MutexLock lock(mutex_);
  return num_finds_;
}

int FakeDocumentStore::num_vectors() const {
  MutexLock lock(mutex_);
  return static_cast<int>(vectors_.size());
}

int FakeDocumentStore::num_documents() const {
  MutexLock lock(mutex_);
  return static_cast<int>(documents_.size());
}

absl::StatusOr<DocumentStore::Found> FakeDocumentStore::FindVectors(
    const VectorSpace& space,
    std::span<const std::string_view> normalized_texts, absl::Duration,
    float* rows, std::span<std::uint8_t> found) {
  MutexLock lock(mutex_);
  ++num_finds_;
  std::ranges::fill(found, std::uint8_t{0});
  SEMRANK_RETURN_IF_ERROR(status_);
  Found result;
  for (std::size_t i = 0; i < normalized_texts.size(); ++i) {
    const auto vector = vectors_.find({std::string(space.model), space.side,
                                       std::string(normalized_texts[i])});
    if (vector == vectors_.end()) continue;
    std::ranges::copy(vector->second, rows + i * space.dim);
    found[i] = 1;
    ++result.num_found;
  }
  return result;
}

absl::Status FakeDocumentStore::WriteVectors(
    const VectorSpace& space,
    std::span<const std::string_view> normalized_texts, const float* rows) {
  if (hook_) hook_();
  MutexLock lock(mutex_);
  SEMRANK_RETURN_IF_ERROR(status_);
  for (std::size_t i = 0; i < normalized_texts.size(); ++i) {
    const float* const row = rows + i * space.dim;
    vectors_[{std::string(space.model), space.side,
              std::string(normalized_texts[i])}] = {row, row + space.dim};
  }
  return absl::OkStatus();
}

absl::Status FakeDocumentStore::PutDocuments(
    std::span<const StoredDocument> documents) {
  MutexLock lock(mutex_);
  SEMRANK_RETURN_IF_ERROR(status_);
  for (const StoredDocument& document : documents) {
    documents_[Owned(document.key)] = {
        std::string(document.title),
        std::string(document.payload),
        std::string(document.model),
        std::string(document.packed_tags),
        {document.vector.begin(), document.vector.end()}};
  }
  return absl::OkStatus();
}

absl::Status FakeDocumentStore::DeleteDocuments(
    std::span<const DocumentKeyView> keys) {
  MutexLock lock(mutex_);
  SEMRANK_RETURN_IF_ERROR(status_);
  for (const DocumentKeyView& key : keys) documents_.erase(Owned(key));
  return absl::OkStatus();
}

absl::Status FakeDocumentStore::LoadDocuments(const VisitDocument& visit) {
  MutexLock lock(mutex_);
  SEMRANK_RETURN_IF_ERROR(status_);
  for (const auto& [key, document] : documents_) {
    const DocumentKeyView view = std::visit(
        [](const auto& value) { return DocumentKeyView(value); }, key);
    SEMRANK_RETURN_IF_ERROR(
        visit({view, document.title, document.payload, document.model,
               document.vector, document.packed_tags}));
  }
  return absl::OkStatus();
}

std::unique_ptr<ChangeLog> FakeDocumentStore::OpenChangeLog() {
  return nullptr;
}

FakeDocumentStore::OwnedKey FakeDocumentStore::Owned(
    const DocumentKeyView& key) {
  if (const auto* number = std::get_if<std::uint64_t>(&key)) return *number;
  return std::string(std::get<std::string_view>(key));
}

}  // namespace semrank
