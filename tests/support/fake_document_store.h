// A store in memory that a test spoils as it likes. Outlives what works with
// it, so it can play a store that a restarted server finds again.
#ifndef SEMRANK_TESTS_SUPPORT_FAKE_DOCUMENT_STORE_H_
#define SEMRANK_TESTS_SUPPORT_FAKE_DOCUMENT_STORE_H_

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "model/base/mutex.h"
#include "server/stores/document_store.h"

namespace semrank {

class FakeDocumentStore : public DocumentStore {
 public:
  // Every call returns `status` from now on; OK = the store works again.
  void FailWith(absl::Status status);
  // Each WriteVectors calls `hook` first, without a lock. A test sets it before
  // other threads call.
  void BeforeWrite(std::function<void()> hook) { hook_ = std::move(hook); }

  int num_finds() const;  // calls of FindVectors
  int num_vectors() const;
  int num_documents() const;

  const std::string& name() const override { return name_; }
  absl::StatusOr<Found> FindVectors(
      const VectorSpace& space,
      std::span<const std::string_view> normalized_texts,
      absl::Duration time_limit, float* rows,
      std::span<std::uint8_t> found) override;
  absl::Status WriteVectors(const VectorSpace& space,
                            std::span<const std::string_view> normalized_texts,
                            const float* rows) override;
  absl::Status PutDocuments(std::span<const StoredDocument> documents) override;
  absl::Status DeleteDocuments(std::span<const DocumentKeyView> keys) override;
  absl::Status LoadDocuments(const VisitDocument& visit) override;
  std::unique_ptr<ChangeLog> OpenChangeLog() override;

 private:
  using OwnedKey = std::variant<std::uint64_t, std::string>;
  using VectorKey = std::tuple<std::string, Side, std::string>;
  struct OwnedDocument {
    std::string title, payload, model, packed_tags;
    std::vector<float> vector;
  };

  static OwnedKey Owned(const DocumentKeyView& key);

  const std::string name_ = "fake store";
  std::function<void()> hook_;
  mutable Mutex mutex_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  int num_finds_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<VectorKey, std::vector<float>> vectors_ ABSL_GUARDED_BY(mutex_);
  std::map<OwnedKey, OwnedDocument> documents_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace semrank

#endif  // SEMRANK_TESTS_SUPPORT_FAKE_DOCUMENT_STORE_H_
