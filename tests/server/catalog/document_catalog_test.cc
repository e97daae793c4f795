#include "server/catalog/store/document_catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/server/catalog/document_catalog_fixture.h"
#include "tests/support/scan_catalog.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

TEST_F(DocumentCatalogTest, FindsByNumberAndByNameApart) {
  ASSERT_THAT(Put({{7u, "seven"}, {"7", "name"}, {0u, "zero"}}).status(),
              IsOk());
  EXPECT_EQ(TitleOf(std::uint64_t{7}), "seven");
  EXPECT_EQ(TitleOf("7"), "name");
  EXPECT_EQ(TitleOf(std::uint64_t{0}), "zero");
  EXPECT_EQ(TitleOf(std::uint64_t{8}), "-");
  EXPECT_EQ(TitleOf(""), "-");
  EXPECT_EQ(catalog_.TakeSnapshot().num_documents(), 3u);
}

TEST_F(DocumentCatalogTest, ASlotForgetsTheNumberOfItsLastDocument) {
  for (int round = 0; round < 3; ++round) {
    ASSERT_THAT(Put({{7u, "seven"}}).status(), IsOk());
    EXPECT_EQ(TitleOf(std::uint64_t{7}), "seven");
    Delete(std::uint64_t{7});
    // This reuses the slot that is free again.
    ASSERT_THAT(Put({{"name", "by name"}}).status(), IsOk());
    EXPECT_EQ(TitleOf(std::uint64_t{7}), "-");
    EXPECT_EQ(TitleOf(std::uint64_t{0}), "-");
    EXPECT_EQ(TitleOf("name"), "by name");
    Delete("name");
  }
}

TEST_F(DocumentCatalogTest, LastOfEqualKeysStays) {
  const auto counts = Put({{"a", "1"}, {"b", "2"}, {"a", "3"}});
  ASSERT_THAT(counts.status(), IsOk());
  EXPECT_EQ(counts->num_created, 2u);
  EXPECT_EQ(counts->num_replaced, 1u);
  EXPECT_EQ(TitleOf("a"), "3");
  EXPECT_EQ(catalog_.GetStats().num_documents, 2u);
}

TEST_F(DocumentCatalogTest, SnapshotStaysAsItWasTaken) {
  ASSERT_THAT(Put({{"a", "old", {1, 0, 0, 0}}, {"b", "gone"}}).status(),
              IsOk());
  const CatalogSnapshot before = catalog_.TakeSnapshot();
  ASSERT_THAT(Put({{"a", "new", {0, 1, 0, 0}}, {"c", "late"}}).status(),
              IsOk());
  Delete("b");
  EXPECT_EQ(TitleOf(before, "a"), "old");
  EXPECT_EQ(before.vector(*before.Find("a"))[0], 1);
  EXPECT_EQ(TitleOf(before, "b"), "gone");
  EXPECT_EQ(TitleOf(before, "c"), "-");
  EXPECT_EQ(before.num_documents(), 2u);
  EXPECT_EQ(TitleOf("a"), "new");
  EXPECT_EQ(TitleOf("b"), "-");
}

TEST_F(DocumentCatalogTest, SlotsAreUsedAgainOnceNobodySeesThem) {
  std::vector<Doc> documents;
  for (std::uint64_t i = 0; i < 3'000; ++i) documents.push_back({i});
  ASSERT_THAT(Put(documents).status(), IsOk());
  const std::size_t bytes = catalog_.GetStats().num_bytes;
  for (int round = 0; round < 20; ++round)
    ASSERT_THAT(Put(documents).status(), IsOk());
  // The documents removed in the last round may still be there.
  EXPECT_LE(catalog_.TakeSnapshot().num_slots(), 2 * 4'096u);
  EXPECT_LT(catalog_.GetStats().num_bytes, 2.5 * bytes);
}

TEST_F(DocumentCatalogTest, IsFullAtItsLimit) {
  DocumentCatalog catalog(2);
  ASSERT_THAT(catalog.BeginModel(served_), IsOk());
  const std::vector<float> rows(3 * kDim);
  const DocumentCatalog::Rows of_model = {served_, rows.data()};
  const auto put = [&](std::vector<std::uint64_t> ids) {
    std::vector<CatalogRecord::Pointer> records;
    for (const std::uint64_t id : ids) {
      records.push_back(CatalogRecord::Make(id, "", ""));
    }
    return catalog.Put(records, {&of_model, 1}).status();
  };
  EXPECT_THAT(put({1, 2, 3}), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(catalog.GetStats().num_documents, 0u);
  EXPECT_THAT(put({1, 1}), IsOk());  // one document
  EXPECT_THAT(put({1, 2, 2}), IsOk());
  EXPECT_THAT(put({2, 1}), IsOk());  // only replaced
  EXPECT_THAT(put({3}), StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST_F(DocumentCatalogTest, AFailedCommitChangesNothing) {
  std::vector<CatalogRecord::Pointer> records;
  records.push_back(CatalogRecord::Make("a", "title", ""));
  const std::vector<float> row(kDim);
  const DocumentCatalog::Rows of_model = {served_, row.data()};
  const auto fail = [] { return absl::UnavailableError("disk"); };
  EXPECT_THAT(catalog_.Put(records, {&of_model, 1}, fail).status(),
              StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(TitleOf("a"), "-");
}

TEST_F(DocumentCatalogTest, OneModelAnswersUntilAnotherIsComplete) {
  ASSERT_THAT(Put({{"a"}, {"b"}}).status(), IsOk());
  const ServedModelPtr next = MakeServed(2, 2);
  ASSERT_THAT(catalog_.BeginModel(next), IsOk());
  // A put must bring both models' vectors now.
  EXPECT_THAT(Put({{"c"}}).status(), StatusIs(absl::StatusCode::kAborted));
  EXPECT_EQ(catalog_.Models().size(), 2u);
  const CatalogSnapshot before = catalog_.TakeSnapshot();
  EXPECT_EQ(before.model(), served_);
  const std::vector<std::uint32_t> slots = {*before.Find("a"),
                                            *before.Find("b")};
  const std::vector<float> rows = {5, 6, 7, 8};
  catalog_.AddRows(before, slots, rows.data());
  EXPECT_EQ(catalog_.TakeSnapshot().model(), served_);
  catalog_.FinishModel();
  const CatalogSnapshot after = catalog_.TakeSnapshot();
  EXPECT_EQ(after.model(), next);
  EXPECT_EQ(after.vector(*after.Find("b"))[1], 8);
  EXPECT_EQ(before.vector(*before.Find("b"))[0], 1);
}

TEST_F(DocumentCatalogTest, OnlyThePreviousModelsVectorsAreKept) {
  ASSERT_THAT(Put({{"a"}}).status(), IsOk());
  const std::size_t bytes = catalog_.GetStats().num_bytes;
  const std::vector<std::uint32_t> slots = {*catalog_.TakeSnapshot().Find("a")};
  for (const std::uint32_t number : {2, 3, 2}) {
    ASSERT_THAT(catalog_.BeginModel(MakeServed(number)), IsOk());
    EXPECT_EQ(catalog_.NextModelCommit() > 0,
              number == 2 && catalog_.TakeSnapshot().model()->number == 3);
    catalog_.AddRows(catalog_.TakeSnapshot(), slots,
                     std::vector<float>(kDim).data());
    catalog_.FinishModel();
    EXPECT_LE(catalog_.GetStats().num_bytes, 2 * bytes);
  }
  // The vectors of the first model were dropped for the third.
  ASSERT_THAT(catalog_.BeginModel(served_), IsOk());
  EXPECT_EQ(catalog_.NextModelCommit(), 0u);
}

TEST_F(DocumentCatalogTest, CancelledRollbackKeepsItsVectors) {
  ASSERT_THAT(Put({{"a"}}).status(), IsOk());
  const std::vector<std::uint32_t> slots = {*catalog_.TakeSnapshot().Find("a")};
  const ServedModelPtr next = MakeServed(2);
  ASSERT_THAT(catalog_.BeginModel(next), IsOk());
  catalog_.AddRows(catalog_.TakeSnapshot(), slots,
                   std::vector<float>(kDim).data());
  catalog_.FinishModel();
  const std::size_t bytes = catalog_.GetStats().num_bytes;
  ASSERT_THAT(catalog_.BeginModel(served_), IsOk());
  const CommitNumber kept = catalog_.NextModelCommit();
  EXPECT_GT(kept, 0u);
  ASSERT_THAT(catalog_.BeginModel(next), IsOk());
  EXPECT_EQ(catalog_.Models().size(), 1u);
  ASSERT_THAT(catalog_.BeginModel(served_), IsOk());
  EXPECT_EQ(catalog_.NextModelCommit(), kept);
  catalog_.FinishModel();
  const CatalogSnapshot after = catalog_.TakeSnapshot();
  EXPECT_EQ(after.model(), served_);
  EXPECT_EQ(after.vector(slots[0])[0], 1);
  EXPECT_EQ(catalog_.GetStats().num_bytes, bytes);
}

TEST_F(DocumentCatalogTest, TagsOfDocumentsThatLeftTakeNoMemory) {
  std::vector<std::size_t> bytes;
  for (int round = 0; round < 50; ++round) {
    const std::string tag = std::to_string(round);
    ASSERT_THAT(
        Put({{.key = "a", .tags = {tag}}, {.key = "b", .tags = {tag, "x"}}})
            .status(),
        IsOk());
    bytes.push_back(catalog_.GetStats().num_bytes);
  }
  EXPECT_EQ(bytes[1], bytes[9]);
  EXPECT_LE(catalog_.TakeSnapshot().num_tag_sets(), 6u);
}

TEST_F(DocumentCatalogTest, IdsAndTagsTakeMemoryOnlyWhereTheyAre) {
  constexpr std::size_t kSlots = CatalogSlots::kSlotsPerChunk;
  const auto growth = [&](const Doc& document) {
    const std::size_t before = catalog_.GetStats().num_bytes;
    EXPECT_THAT(Put({document}).status(), IsOk());
    return catalog_.GetStats().num_bytes - before;
  };
  growth({1u});
  EXPECT_LT(growth({2u}), 1'000u);
  EXPECT_GE(growth({"a"}), sizeof(NameKey) * kSlots);
  EXPECT_LT(growth({"b"}), 1'000u);
  EXPECT_GE(growth({.key = 3u, .tags = {"t"}}), 4 * kSlots);
  EXPECT_LT(growth({.key = 4u, .tags = {"t"}}), 1'000u);
}

// The bound that CATALOG.md states; the catalog keeps whole chunks of slots.
TEST_F(DocumentCatalogTest, TakesAtMost124BytesADocumentBesideItsVector) {
  constexpr std::size_t kCount = 80'000;
  const std::string name(20, 'x'), title(50, 'y'), payload(10, 'z');
  for (std::size_t done = 0; done < kCount;) {
    std::vector<CatalogRecord::Pointer> records;
    for (int i = 0; i < 1'000; ++i, ++done) {
      const std::string unique = std::to_string(1'000'000 + done) + name;
      records.push_back(CatalogRecord::Make(unique, title, payload));
    }
    const std::vector<float> rows(records.size() * kDim);
    const DocumentCatalog::Rows of_model = {served_, rows.data()};
    ASSERT_THAT(catalog_.Put(records, {&of_model, 1}).status(), IsOk());
    if (done < 20'000) continue;
    // Rows are kept in float32 and in 4-bit codes.
    const double own_bytes = 27 + 50 + 10 + kDim * 4.5;
    EXPECT_LE(catalog_.GetStats().num_bytes / static_cast<double>(done),
              own_bytes + 124)
        << done;
  }
}

// The figures that PERFORMANCE.md states.
TEST(CatalogVectorsTest, TakeTheStatedBytesAtEachPrecision) {
  const auto bytes_of = [](VectorPrecision precision) {
    CatalogVectors vectors(1, {256, precision});
    EXPECT_THAT(vectors.Reserve(100), IsOk());
    return vectors.num_bytes() / 100;
  };
  EXPECT_EQ(bytes_of(VectorPrecision::kFloat32), 1'160u);
  EXPECT_EQ(bytes_of(VectorPrecision::kBf16), 648u);
  EXPECT_EQ(bytes_of(VectorPrecision::kInt8), 264u);
}

TEST_F(DocumentCatalogTest, AgreesWithAMapThroughRandomChanges) {
  std::mt19937 random(1);
  std::map<std::uint64_t, std::string> expected;
  std::vector<std::pair<CatalogSnapshot, std::map<std::uint64_t, std::string>>>
      held;
  for (int step = 0; step < 2'000; ++step) {
    std::vector<Doc> documents(random() % 20);
    for (Doc& document : documents) {
      const std::uint64_t id = random() % 5'000;
      document = {id, std::to_string(random())};
      expected[id] = document.title;
    }
    ASSERT_THAT(Put(documents).status(), IsOk());
    for (int i = 0; i < 5; ++i) {
      const std::uint64_t id = random() % 5'000;
      Delete(id);
      expected.erase(id);
    }
    if (step % 100 == 0) held.emplace_back(catalog_.TakeSnapshot(), expected);
    if (step % 700 == 0) held.erase(held.begin());
  }
  held.emplace_back(catalog_.TakeSnapshot(), expected);
  for (const auto& [snapshot, documents] : held) {
    ASSERT_EQ(snapshot.num_documents(), documents.size());
    std::size_t num_visible = 0;
    for (std::uint32_t slot = 0; slot < snapshot.num_slots(); ++slot) {
      num_visible += snapshot.IsVisible(slot);
    }
    ASSERT_EQ(num_visible, documents.size());
    for (std::uint64_t id = 0; id < 5'000; ++id) {
      const auto document = documents.find(id);
      ASSERT_EQ(TitleOf(snapshot, id),
                document == documents.end() ? "-" : document->second);
    }
  }
}

// Each commit gives all documents one title; a reader never sees two.
TEST_F(DocumentCatalogTest, ReadersSeeWholeCommitsWhileOneWrites) {
  constexpr std::uint64_t kCount = 200;
  std::vector<Doc> documents(kCount);
  for (std::uint64_t i = 0; i < kCount; ++i) documents[i].key = i;
  ASSERT_THAT(Put(documents).status(), IsOk());
  std::atomic<bool> stop = false;
  const auto read = [&] {
    while (!stop) {
      const CatalogSnapshot snapshot = catalog_.TakeSnapshot();
      const std::string title = TitleOf(snapshot, std::uint64_t{0});
      for (std::uint64_t i = 0; i < kCount; ++i) {
        ASSERT_EQ(TitleOf(snapshot, i), title);
      }
      const std::vector<float> query = {1, 1, 1, 1};
      TopDocuments best(2 * kCount, -100);
      ScanCatalog(ScanQuery(&snapshot, {.row = query.data()}), 0,
                  snapshot.num_slots(), best);
      const std::vector<CatalogHit> hits = best.Take(snapshot);
      ASSERT_EQ(hits.size(), kCount);
      for (const CatalogHit& hit : hits) {
        ASSERT_EQ(hit.score, hits[0].score);
        ASSERT_EQ(snapshot.record(hit.slot).title(), title);
      }
    }
  };
  std::thread first(read), second(read);
  for (int commit = 0; commit < 300; ++commit) {
    for (Doc& document : documents) {
      document.title = std::to_string(commit);
      document.row[1] = static_cast<float>(commit);
    }
    ASSERT_THAT(Put(documents).status(), IsOk());
  }
  stop = true;
  first.join();
  second.join();
}

}  // namespace
}  // namespace semrank
