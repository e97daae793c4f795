// The catalog of one server, on a store that outlives it.
#ifndef SEMRANK_TESTS_SERVER_CATALOG_CATALOG_ON_STORE_H_
#define SEMRANK_TESTS_SERVER_CATALOG_CATALOG_ON_STORE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/base/status_macros.h"
#include "server/catalog/sync/synced_catalog.h"
#include "tests/support/fake_caller.h"
#include "tests/support/status_matchers.h"
#include "tests/support/tiny_model.h"

namespace semrank {

inline ServedModelPtr ServedTinyModel(std::uint32_t number) {
  return std::make_shared<ServedModel>(
      ServedModel{.model = MakeTinyModel({.seed = number}), .number = number});
}

class Catalog {
 public:
  explicit Catalog(DocumentStore* store, std::uint32_t model = 1,
                   std::size_t max_documents = 100'000)
      : served_(ServedTinyModel(model)),
        parts_(max_documents,
               {.embedder = &embedder_, .metrics = &metrics_, .store = store}) {
    EXPECT_THAT(Follow(served_), IsOk());
  }

  absl::Status Follow(const ServedModelPtr& model) {
    return parts_.update.Follow([&] { return model; });
  }
  absl::StatusOr<CatalogReconciler::Counts> Load(
      const std::function<bool()>& stop = nullptr) {
    return parts_.reconciler.Load(stop);
  }
  absl::Status Put(std::uint64_t id, const std::string& title) {
    return Put({{id, title, "payload"}});
  }
  absl::Status Put(const std::vector<NewDocument>& documents) {
    PutState state;
    PutResult result;
    while (true) {
      SEMRANK_ASSIGN_OR_RETURN(
          const Progress progress,
          parts_.writer.PutSlice(documents, FakeCaller(), state, result));
      if (progress == Progress::kDone) return absl::OkStatus();
    }
  }
  absl::Status Delete(DocumentKeyView key) {
    std::vector<bool> found;
    return parts_.writer.Delete({&key, 1}, found).status();
  }
  // "-" = there is none.
  std::string TitleOf(DocumentKeyView key) const {
    const auto snapshot = parts_.documents.TakeSnapshot();
    const auto slot = snapshot.Find(key);
    return slot.has_value() ? std::string(snapshot.record(*slot).title()) : "-";
  }
  std::vector<std::string> TagsOf(DocumentKeyView key) const {
    const auto snapshot = parts_.documents.TakeSnapshot();
    const auto tags =
        UnpackTags(snapshot.record(snapshot.Find(key).value()).packed_tags());
    return {tags.begin(), tags.end()};
  }
  // The vector is the one that `model` gives the title.
  bool HasVectorOf(DocumentKeyView key, std::uint32_t model) const {
    const auto snapshot = parts_.documents.TakeSnapshot();
    const auto slot = snapshot.Find(key);
    if (!slot.has_value()) return false;
    TextBatch texts;
    if (!texts.Add(snapshot.record(*slot).title(), kNormalizerVersion).ok())
      return false;
    std::vector<float> row(16);
    const ServedModelPtr served = ServedTinyModel(model);
    PhaseTimes times;
    const absl::Status status = embedder_.Embed(
        {*served, FakeCaller(), times}, Side::kDocument, texts, row.data());
    return status.ok() && row == snapshot.vector(*slot);
  }
  // The number of texts that this catalog embedded, by any model.
  int num_embedded() {
    const std::string metrics = metrics_.Render();
    const std::string name = "semrank_texts_embedded_total{side=\"document\"} ";
    return std::stoi(metrics.substr(metrics.find(name) + name.size()));
  }
  std::size_t num_documents() const {
    return parts_.documents.TakeSnapshot().num_documents();
  }

  SyncedCatalog& parts() { return parts_; }

 private:
  const ServedModelPtr served_;
  Metrics metrics_;
  std::unique_ptr<DocumentVectorCache> cache_ =
      DocumentVectorCache::Create(0).value();
  const TextEmbedder embedder_{cache_.get(), &metrics_};
  SyncedCatalog parts_;
};

}  // namespace semrank

#endif  // SEMRANK_TESTS_SERVER_CATALOG_CATALOG_ON_STORE_H_
