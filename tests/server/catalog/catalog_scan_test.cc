#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_join.h"
#include "model/text/normalizer.h"
#include "server/catalog/search/shared_scan.h"
#include "tests/server/catalog/document_catalog_fixture.h"
#include "tests/support/scan_catalog.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Gt;

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
    const SlotFilter slot_filter(&snapshot, filter);
    if (!filter.empty()) input.filter = &slot_filter;
    const std::string normalized = NormalizeName(name).value();
    const NameQuery name_query(name, normalized);
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

// The order of the scores is the opposite one.
TEST_F(CatalogScanTest, TextThatEqualsTheQueryComesFirstAmongEqualNames) {
  ASSERT_THAT(Put({{1u, "APPLE", {9, 0, 0, 0}},
                   {2u, "apple", {8, 0, 0, 0}},
                   {3u, "Apple", {7, 0, 0, 0}},
                   {"Apple", "a fruit", {6, 0, 0, 0}},
                   {4u, "\uFF21\uFF50\uFF50\uFF4C\uFF45", {5, 0, 0, 0}},
                   {5u, "C", {4, 0, 0, 0}},
                   {6u, "c++", {3, 0, 0, 0}},
                   {7u, "C++", {2, 0, 0, 0}}})
                  .status(),
              IsOk());
  const auto named = [&](std::string_view query) {
    return Search(5, -1, {}, {}, query);
  };
  EXPECT_THAT(named("Apple"),
              ElementsAre("3:7", "Apple:6", "1:9", "2:8", "4:5"));
  EXPECT_THAT(named("apple"),
              ElementsAre("2:8", "1:9", "3:7", "Apple:6", "4:5"));
  EXPECT_THAT(named("\uFF21\uFF50\uFF50\uFF4C\uFF45"),
              ElementsAre("4:5", "1:9", "2:8", "3:7", "Apple:6"));
  EXPECT_THAT(Search(3, -1, {}, {}, "C++"), ElementsAre("7:2", "6:3", "5:4"));
}

// The keys that a scan compares give the same result as the whole texts.
TEST_F(CatalogScanTest, NameMatchesAreThoseOfTheRule) {
  const std::vector<std::string> pieces = {"a", "b", "-", " ", "é", "1", "A"};
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
  std::array<int, 8> num_matches = {};
  for (int i = 0; i < 40'000; ++i) {
    const Text typed = text();
    const std::string query = absl::StrJoin(typed, "");
    const std::string normalized = NormalizeName(query).value();
    const std::string id = name(typed), title = name(typed);
    const auto record = CatalogRecord::Make(id, title, "");
    NameMatch match = MatchName(normalized, NormalizeName(id).value(),
                                NormalizeName(title).value());
    if (match == NameMatch::kSameSpelling &&
        (IsSameText(query, id) || IsSameText(query, title))) {
      match = NameMatch::kSameText;
    }
    const NameQuery name_query(query, normalized);
    const NameKeys keys = NameKeysOf(*record);
    EXPECT_EQ(name_query.Match(keys, *record), match)
        << query << "|" << id << "|" << title;
    EXPECT_GE(name_query.MaxMatch(keys), match)
        << query << "|" << id << "|" << title;
    ++num_matches[static_cast<int>(match)];
  }
  EXPECT_THAT(num_matches, Each(Gt(100)));
}

TEST(NameQueryTest, KeysShowThatANameIsLongerThanTheQuery) {
  const auto best = [](std::string_view query, std::string_view title) {
    const auto record = CatalogRecord::Make(std::uint64_t{1}, title, "");
    return NameQuery(query, query).MaxMatch(NameKeysOf(*record));
  };
  EXPECT_EQ(best("red", "red"), NameMatch::kSameText);
  EXPECT_EQ(best("red", "red shoes"), NameMatch::kLeadingWords);
  EXPECT_EQ(best("red shoes", "red shoes for you"), NameMatch::kLeadingWords);
  EXPECT_EQ(best("red", "blue"), NameMatch::kNone);
}

// With room for every document, each one is matched and scored.
TEST_F(CatalogScanTest, ManyNamedDocumentsAreCutAfterTheBest) {
  const std::vector<std::string> titles = {
      "Red shoes", "red shoes",    "Red shoes 41",  "Red shoes, blue",
      "Red shoe",  "red shoesale", "Red shoesales", "other"};
  std::mt19937 random(5);
  std::vector<Doc> documents;
  for (std::uint64_t i = 0; i < 3'000; ++i) {
    documents.push_back({i,
                         titles[random() % titles.size()],
                         {static_cast<float>(random() % 50), 0, 0, 0}});
  }
  ASSERT_THAT(Put(documents).status(), IsOk());
  for (const std::string_view query : {"Red shoes", "red", "red sheos"}) {
    std::vector<std::string> expected = Search(3'000, 9, {}, {}, query);
    for (const std::size_t top_k : {2'000, 500, 30, 1}) {
      expected.resize(std::min(expected.size(), top_k));
      EXPECT_EQ(Search(top_k, 9, {}, {}, query), expected) << query;
    }
  }
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
    return Doc{id,
               id % 10 == 0 ? "a" : "a title",
               {element(), element(), element(), element()}};
  };
  const NameQuery name("a", "a");
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
    // Every title begins with "a", and each tenth is "a" alone.
    if (turn % 2 == 0) input.name = &name;
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
