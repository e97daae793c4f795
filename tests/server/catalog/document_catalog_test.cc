#include "server/catalog/store/document_catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_join.h"
#include "model/text/normalizer.h"
#include "server/catalog/search/shared_scan.h"
#include "tests/support/scan_catalog.h"
#include "tests/support/status_matchers.h"
#include "tests/support/tiny_model.h"

namespace semrank {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Gt;

constexpr int kDim = 4;

ServedModelPtr MakeServed(std::uint32_t number, int dim = kDim) {
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
  EXPECT_THAT(put({1, 2}), IsOk());
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

// The bound that CATALOG.md states; the catalog keeps whole chunks of slots.
TEST_F(DocumentCatalogTest, TakesAtMost128BytesADocumentBesideItsVector) {
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
              own_bytes + 128)
        << done;
  }
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

class CatalogScanTest : public DocumentCatalogTest {
 protected:
  // "number or name:score" of the best.
  std::vector<std::string> Search(std::size_t top_k, float min_score = -100,
                                  std::vector<DocumentKeyView> excluded = {},
                                  const TagFilter& filter = {},
                                  std::string_view name = {}) {
    const CatalogSnapshot snapshot = catalog_.TakeSnapshot();
    const std::vector<float> query = {1, 0, 0, 0};
    ScanQuery::Input input = {.row = query.data()};
    for (const DocumentKeyView& key : excluded) {
      input.excluded_slots.insert(*snapshot.Find(key));
    }
    const SlotFilter slot_filter(&snapshot, &filter);
    if (!filter.empty()) input.filter = &slot_filter;
    const NameQuery name_query(name);
    if (!name.empty()) input.name = &name_query;
    const ScanQuery scan(&snapshot, std::move(input));
    TopDocuments best(top_k, min_score);
    num_scored_ = 0;
    // As slices do, this scans piece by piece.
    for (std::size_t slot = 0; slot < snapshot.num_slots(); slot += 640) {
      num_scored_ += ScanCatalog(scan, slot, slot + 640, best);
    }
    std::vector<std::string> hits;
    for (const CatalogHit& hit : best.Take(snapshot)) {
      const DocumentKeyView key = snapshot.record(hit.slot).key();
      hits.push_back((key.index() == 0 ? std::to_string(std::get<0>(key))
                                       : std::string(std::get<1>(key))) +
                     ":" + std::to_string(static_cast<int>(hit.score)));
    }
    return hits;
  }

  std::size_t num_scored_ = 0;
};

TEST_F(CatalogScanTest, OrdersByScoreThenNumbersThenNames) {
  ASSERT_THAT(Put({{"b", "", {2, 0, 0, 0}},
                   {"a", "", {2, 0, 0, 0}},
                   {9u, "", {2, 0, 0, 0}},
                   {10u, "", {2, 0, 0, 0}},
                   {"z", "", {3, 0, 0, 0}},
                   {1u, "", {1, 0, 0, 0}}})
                  .status(),
              IsOk());
  EXPECT_THAT(Search(10),
              ElementsAre("z:3", "9:2", "10:2", "a:2", "b:2", "1:1"));
  EXPECT_THAT(Search(3), ElementsAre("z:3", "9:2", "10:2"));
  EXPECT_THAT(Search(2, -100, {"z", std::uint64_t{9}}),
              ElementsAre("10:2", "a:2"));
  EXPECT_THAT(Search(10, 2.5f), ElementsAre("z:3"));
  EXPECT_THAT(Search(10, 4), ElementsAre());
}

TEST_F(CatalogScanTest, AFilterIsAppliedBeforeTheBestAreChosen) {
  std::vector<Doc> documents;
  for (std::uint64_t i = 0; i < 1'000; ++i) {
    documents.push_back({i, "", {static_cast<float>(i), 0, 0, 0}});
    if (i % 100 == 0) documents.back().tags = {"hundred", "doc"};
    if (i % 300 == 0) documents.back().tags = {"doc", "three", "doc"};
  }
  ASSERT_THAT(Put(documents).status(), IsOk());
  EXPECT_THAT(Search(2, -1, {}, {.include = {"hundred", "none"}}),
              ElementsAre("800:800", "700:700"));
  EXPECT_EQ(num_scored_, 6u);
  EXPECT_THAT(Search(9, -1, {}, {.include = {"doc"}, .exclude = {"hundred"}}),
              ElementsAre("900:900", "600:600", "300:300", "0:0"));
  EXPECT_THAT(Search(1, -1, {std::uint64_t{999}}, {.exclude = {"doc"}}),
              ElementsAre("998:998"));
  EXPECT_EQ(num_scored_, 990u);
  EXPECT_THAT(Search(1, -1, {}, {.include = {"none"}}), ElementsAre());
}

TEST_F(CatalogScanTest, NamedDocumentsComeFirstThenPrefixesByScore) {
  ASSERT_THAT(Put({{"editor", "Best: vim vim", {9, 0, 0, 0}},
                   {"VIM", "some editor", {1, 0, 0, 0}},
                   {5u, "vim: Vi IMproved", {2, 0, 0, 0}},
                   {"vim-gtk3", "a window", {4, 0, 0, 0}},
                   {6u, "Vimdiff", {3, 0, 0, 0}},
                   {7u, "Vim", {0, 0, 0, 0}},
                   {"vi", "older", {8, 0, 0, 0}}})
                  .status(),
              IsOk());
  EXPECT_THAT(Search(10, -1, {}, {}, "vim"),
              ElementsAre("VIM:1", "7:0", "5:2", "6:3", "vim-gtk3:4",
                          "editor:9", "vi:8"));
  EXPECT_THAT(Search(2, -1, {}, {}, "vim"), ElementsAre("VIM:1", "7:0"));
  EXPECT_THAT(Search(2, 2, {"vim-gtk3"}, {}, "vim"), ElementsAre("5:2", "6:3"));
  EXPECT_THAT(Search(1, -1, {}, {}, "vim vi improved"), ElementsAre("5:2"));
  EXPECT_THAT(Search(1, -1, {}, {}, "vim vi improvement"),
              ElementsAre("editor:9"));
  EXPECT_THAT(Search(1), ElementsAre("editor:9"));
}

// The keys that a scan compares give the same result as the whole texts.
TEST_F(CatalogScanTest, NameMatchesAreThoseOfTheRule) {
  const std::vector<std::string> pieces = {"a", "b", "-", " ", "é", "1"};
  std::mt19937 random(3);
  const auto piece = [&] { return pieces[random() % pieces.size()]; };
  using Text = std::vector<std::string>;
  const auto text = [&] {
    Text made;
    for (std::size_t i = random() % 12 + 1; i-- > 0;) made.push_back(piece());
    return made;
  };
  // Half of the names are the query after an edit or two.
  const auto name = [&](Text made) {
    if (random() % 2 == 0) made = text();
    for (auto edits = random() % 3; edits > 0 && !made.empty(); --edits) {
      const auto at = made.begin() + random() % made.size();
      const auto kind = random() % 4;
      if (kind == 0) *at = piece();
      if (kind == 1) made.insert(at, piece());
      if (kind == 2) made.erase(at);
      if (kind == 3) std::swap(*at, made.back());
    }
    return absl::StrJoin(made, "");
  };
  std::array<int, 7> num_matches = {};
  for (int i = 0; i < 40'000; ++i) {
    const Text typed = text();
    const std::string query = NormalizeName(absl::StrJoin(typed, "")).value();
    const std::string id = name(typed), title = name(typed);
    const auto record = CatalogRecord::Make(id, title, "");
    const NameMatch match = MatchName(query, NormalizeName(id).value(),
                                      NormalizeName(title).value());
    EXPECT_EQ(NameQuery(query).Match(NameKeysOf(*record), *record), match)
        << query << "|" << id << "|" << title;
    ++num_matches[static_cast<int>(match)];
  }
  EXPECT_THAT(num_matches, Each(Gt(100)));
}

TEST_F(CatalogScanTest, FindsTheBestAmongManyThroughGaps) {
  std::vector<Doc> documents;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    documents.push_back(
        {i, "", {static_cast<float>(i * 7'919 % 10'000), 0, 0, 0}});
  }
  ASSERT_THAT(Put(documents).status(), IsOk());
  const auto best = [&](int score) {
    // 7919 * 7679 = 1 modulo 10000.
    return std::to_string(score * 7'679 % 10'000) + ":" + std::to_string(score);
  };
  EXPECT_THAT(Search(2), ElementsAre(best(9'999), best(9'998)));
  Delete(std::uint64_t{9'999 * 7'679 % 10'000});
  for (std::uint64_t i = 0; i < 10'000; i += 3) Delete(i);
  std::vector<std::string> expected;
  for (int score = 9'998; expected.size() < 5; --score) {
    if (score * 7'679 % 10'000 % 3 != 0) expected.push_back(best(score));
  }
  EXPECT_EQ(Search(5), expected);
}

// Each search finds what one thread finds, also beside cancelled ones.
TEST_F(CatalogScanTest, ThreadsThatShareASearchFindWhatOneFinds) {
  std::vector<Doc> documents;
  for (std::uint64_t i = 0; i < 5'000; ++i) {
    documents.push_back({i, "", {static_cast<float>(i * 7 % 500), 0, 0, 0}});
  }
  ASSERT_THAT(Put(documents).status(), IsOk());
  const CatalogSnapshot snapshot = catalog_.TakeSnapshot();
  const std::vector<float> row = {1, 0, 0, 0};
  const ScanQuery query(&snapshot, {.row = row.data()});
  TopDocuments alone(50, -1);
  ScanCatalog(query, 0, snapshot.num_slots(), alone);
  const std::vector<CatalogHit> expected = alone.Take(snapshot);
  const auto group = std::make_shared<ScanGroup>();
  WorkerPool pool(3);
  for (int search = 0; search < 50; ++search) {
    auto scan =
        std::make_shared<SharedScan>(group, &query,
                                     SharedScan::Options{.top_k = 50,
                                                         .min_score = -1,
                                                         .piece_slots = 64,
                                                         .slice_slots = 256});
    scan->Start(&pool);
    const absl::Cleanup stop = [&] { scan->Stop(); };
    if (search % 5 == 4) continue;  // cancelled
    while (!scan->RunSlice()) {
    }
    scan->Stop();
    const std::vector<CatalogHit> hits = scan->TakeHits();
    ASSERT_EQ(hits.size(), 50u);
    for (std::size_t i = 0; i < hits.size(); ++i) {
      ASSERT_EQ(hits[i].slot, expected[i].slot);
    }
  }
}

// Searches with other queries, filters, snapshots and numbers of hits, which
// begin and end at any time beside puts and deletes.
TEST_F(CatalogScanTest, SearchesInFlightFindWhatEachFindsAlone) {
  std::mt19937 random(7);
  const auto element = [&] {
    return static_cast<float>(static_cast<int>(random() % 2'001) - 1'000);
  };
  const auto document = [&](std::uint64_t id) {
    return Doc{id, "", {element(), element(), element(), element()}};
  };
  std::vector<Doc> documents;
  for (std::uint64_t i = 0; i < 5'000; ++i) documents.push_back(document(i));
  ASSERT_THAT(Put(documents).status(), IsOk());

  struct Search {
    CatalogSnapshot snapshot;
    std::vector<float> row;
    std::optional<ScanQuery> query;
    SharedScan::Options options;
    std::shared_ptr<SharedScan> scan;
  };
  const auto group = std::make_shared<ScanGroup>();
  WorkerPool pool(3);
  std::vector<std::unique_ptr<Search>> in_flight;
  for (int turn = 0; turn < 300; ++turn) {
    Delete(std::uint64_t{random() % 5'000});
    ASSERT_THAT(Put({document(random() % 6'000)}).status(), IsOk());
    auto search = std::make_unique<Search>();
    search->snapshot = catalog_.TakeSnapshot();
    search->row = {element(), element(), element(), element()};
    ScanQuery::Input input = {.row = search->row.data()};
    for (int i = 0; i < 100; ++i) {
      const auto slot = search->snapshot.Find(std::uint64_t{random() % 5'000});
      if (slot.has_value()) input.excluded_slots.insert(*slot);
    }
    search->query.emplace(&search->snapshot, std::move(input));
    search->options = {.top_k = 1 + random() % 60,
                       .min_score = turn % 4 == 0 ? 1e5f : -1e9f,
                       .piece_slots = 256,
                       .slice_slots = 1'024};
    search->scan =
        std::make_shared<SharedScan>(group, &*search->query, search->options);
    search->scan->Start(turn % 3 == 0 ? nullptr : &pool);
    in_flight.push_back(std::move(search));
    if (in_flight.size() < 20) continue;

    // One of them runs to its end, in turns with others.
    std::swap(in_flight[random() % in_flight.size()], in_flight.back());
    const std::unique_ptr<Search> ending = std::move(in_flight.back());
    in_flight.pop_back();
    while (!ending->scan->RunSlice()) {
      in_flight[random() % in_flight.size()]->scan->RunSlice();
    }
    ending->scan->Stop();
    TopDocuments alone(ending->options.top_k, ending->options.min_score);
    const std::size_t num_scored =
        ScanCatalog(*ending->query, 0, ending->snapshot.num_slots(), alone);
    EXPECT_EQ(ending->scan->num_scored(), num_scored);
    const std::vector<CatalogHit> expected = alone.Take(ending->snapshot);
    const std::vector<CatalogHit> hits = ending->scan->TakeHits();
    ASSERT_EQ(hits.size(), expected.size());
    for (std::size_t i = 0; i < hits.size(); ++i) {
      ASSERT_EQ(hits[i].slot, expected[i].slot);
      ASSERT_EQ(hits[i].score, expected[i].score);
    }
  }
  for (const auto& search : in_flight) search->scan->Stop();
}

}  // namespace
}  // namespace semrank
