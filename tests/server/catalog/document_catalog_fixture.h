// A catalog that holds documents of one model, and what tests put into it.
#ifndef SEMRANK_TESTS_SERVER_CATALOG_DOCUMENT_CATALOG_FIXTURE_H_
#define SEMRANK_TESTS_SERVER_CATALOG_DOCUMENT_CATALOG_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/catalog/store/document_catalog.h"
#include "tests/support/status_matchers.h"
#include "tests/support/tiny_model.h"

namespace semrank {

inline constexpr int kDim = 4;

inline ServedModelPtr MakeServed(std::uint32_t number, int dim = kDim) {
  auto served = std::make_shared<ServedModel>();
  served->model = MakeTinyModel({.embedding_dim = dim, .seed = number});
  served->number = number;
  return served;
}

struct Doc {
  DocumentKeyView key;
  std::string title = "title";
  std::vector<float> row = {1, 0, 0, 0};
  std::vector<std::string_view> tags = {};
};

class DocumentCatalogTest : public ::testing::Test {
 protected:
  DocumentCatalogTest() { EXPECT_THAT(catalog_.BeginModel(served_), IsOk()); }

  absl::StatusOr<DocumentCatalog::PutCounts> Put(
      const std::vector<Doc>& documents) {
    std::vector<CatalogRecord::Pointer> records;
    std::vector<float> rows;
    for (const Doc& document : documents) {
      records.push_back(CatalogRecord::Make(
          document.key, document.title, "payload", PackTags(document.tags)));
      rows.insert(rows.end(), document.row.begin(), document.row.end());
    }
    const DocumentCatalog::Rows of_model = {served_, rows.data()};
    return catalog_.Put(records, {&of_model, 1});
  }
  void Delete(DocumentKeyView key) {
    std::vector<bool> found;
    EXPECT_THAT(catalog_.Delete({&key, 1}, found).status(), IsOk());
  }
  // The title under `key`; "-" = none.
  static std::string TitleOf(const CatalogSnapshot& snapshot,
                             DocumentKeyView key) {
    const auto slot = snapshot.Find(key);
    return slot.has_value() ? std::string(snapshot.record(*slot).title()) : "-";
  }
  std::string TitleOf(DocumentKeyView key) const {
    return TitleOf(catalog_.TakeSnapshot(), key);
  }

  const ServedModelPtr served_ = MakeServed(1);
  DocumentCatalog catalog_{100'000};
};

}  // namespace semrank

#endif  // SEMRANK_TESTS_SERVER_CATALOG_DOCUMENT_CATALOG_FIXTURE_H_
