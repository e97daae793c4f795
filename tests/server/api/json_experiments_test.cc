// Lists that are explored, interleaved or ranked again, as JSON.
#include <algorithm>
#include <set>
#include <thread>

#include "server/ranking/shadow_ranker.h"
#include "tests/server/api/json_api_fixture.h"
#include "tests/support/event_folder.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

// What comes before the server, which locks the folder and loads the model.
struct BeforeServer {
  BeforeServer() {
    other.Put(1, MakeTinyModel({.name = "other", .version = 1, .seed = 2}));
  }
  TempDir dir;
  MemoryFolder other;
};

class JsonExperimentsTest : private BeforeServer, public JsonApiTest {
 protected:
  explicit JsonExperimentsTest(const ExperimentOptions& experiments = {})
      : JsonApiTest(With(experiments, dir.path()), {{other.Source("other")}}) {
    FollowModels();
  }
  static ServerOptions With(const ExperimentOptions& experiments,
                            const std::string& folder) {
    ServerOptions options = Options();
    options.events.destination = EventFiles::Options{.folder = folder};
    options.experiments = experiments;
    return options;
  }

  static Json Titles(int count) {
    Json titles = Json::array();
    for (int i = 0; i < count; ++i) {
      titles.push_back("title number " + std::to_string(i * 7919));
    }
    return titles;
  }
  static Json Request(int num_titles = 20) {
    return {{"query", "some query"}, {"titles", Titles(num_titles)}};
  }
  static Json Named(const std::string& model) { return {{"name", model}}; }
  static Json Interleave(const Json& b) {
    return {{"a", Named("tiny")}, {"b", b}};
  }
  Json Rank(Json request, const Json& more) {
    request.update(more);
    return Ask("/v1/rank", request.dump());
  }
  // Ranks a list that is shown.
  Json Show(Json request, const Json& more = Json::object()) {
    request["impression"] = Json::object();
    return Rank(std::move(request), more);
  }
  // A report waits for its commit, which has the impressions before it.
  std::vector<Impression> Impressions() {
    Ask("/v1/events",
        R"({"events": [{"impression_id": "i", "kind": "click",
                        "position": 1}]})");
    return RecordsOf<Impression>(dir.path());
  }
  std::string ErrorOf(const std::string& path, const Json& request) {
    const HttpAnswer answer = Post(path, request.dump());
    EXPECT_EQ(answer.status, 400);
    return answer.body;
  }
  // The score of each candidate under one model.
  std::vector<double> ScoresUnder(const std::string& model,
                                  const Json& request) {
    const Json answer = Rank(request, {{"model", Named(model)}});
    std::vector<double> scores(answer["indices"].size());
    for (std::size_t i = 0; i < scores.size(); ++i) {
      scores[answer["indices"][i].get<std::size_t>()] = answer["scores"][i];
    }
    return scores;
  }
};

TEST_F(JsonExperimentsTest, AnInterleavedListHasTheScoresOfItsTeams) {
  const Json answer =
      Show(Request(), {{"interleave", Interleave(Named("other"))}});
  const auto lists = Impressions();
  ASSERT_THAT(lists, SizeIs(1));
  EXPECT_EQ(lists[0].ranker_a, "tiny/1");
  EXPECT_EQ(lists[0].ranker_b, "other/1");
  EXPECT_EQ(answer["model"]["name"], "tiny");
  const auto of_a = ScoresUnder("tiny", Request());
  const auto of_b = ScoresUnder("other", Request());
  std::set<int> candidates;
  int num_of_b = 0;
  for (std::size_t i = 0; i < 20; ++i) {
    const int candidate = answer["indices"][i];
    candidates.insert(candidate);
    const char team = lists[0].results[i].team;
    EXPECT_EQ(answer["scores"][i], (team == 'a' ? of_a : of_b)[candidate]);
    num_of_b += team == 'b' ? 1 : 0;
  }
  EXPECT_THAT(candidates, SizeIs(20));
  EXPECT_EQ(num_of_b, 10);
}

TEST_F(JsonExperimentsTest, AListIsInterleavedWithTheOrderOfTheRequest) {
  const Json answer = Show(
      Request(), {{"interleave", {{"request_order", true}}}, {"top_k", 6}});
  const auto lists = Impressions();
  ASSERT_THAT(lists, SizeIs(1));
  EXPECT_EQ(lists[0].ranker_b, "request");
  ASSERT_THAT(lists[0].results, SizeIs(6));
  const auto scores = ScoresUnder("tiny", Request());
  std::uint32_t next_of_request = 0;
  std::set<std::uint32_t> seen;
  for (std::size_t i = 0; i < 6; ++i) {
    const std::uint32_t candidate = answer["indices"][i];
    EXPECT_EQ(answer["scores"][i], scores[candidate]);
    while (seen.contains(next_of_request)) ++next_of_request;
    if (lists[0].results[i].team == 'b') {
      EXPECT_EQ(candidate, next_of_request);
    }
    seen.insert(candidate);
  }
}

TEST_F(JsonExperimentsTest, ASearchIsInterleavedWithAnotherModelsRanking) {
  FillCatalog();
  Ask("/v1/put", R"({"documents": [{"document_id": "a", "title": "some red"},
                                   {"id": "900", "title": "query blue"}]})");
  const Json request = {{"query", "some query"},
                        {"top_k", 8},
                        {"impression", Json::object()},
                        {"with_parts", true},
                        {"interleave", Interleave(Named("other"))}};
  const Json answer = Ask("/v1/search", request.dump());
  const auto lists = Impressions();
  ASSERT_THAT(lists, SizeIs(1));
  EXPECT_EQ(lists[0].ranker_b, "other/1");
  ASSERT_THAT(lists[0].results, SizeIs(8));
  EXPECT_THAT(answer["hits"], SizeIs(8));
  // The search finds no document by its key, but the second ranking does.
  EXPECT_NE(answer["timings"].value("cache_nanos", "0"), "0");
  std::set<std::string> documents;
  int num_of_b = 0;
  for (const ShownResult& result : lists[0].results) {
    documents.insert(result.document);
    num_of_b += result.team == 'b' ? 1 : 0;
  }
  EXPECT_THAT(documents, SizeIs(8));
  EXPECT_EQ(num_of_b, 4);
}

TEST_F(JsonExperimentsTest, WhatCannotBeInterleavedIsRefused) {
  const Json by_other = {{"interleave", Interleave(Named("other"))}};
  Json request = Request();
  request.update(by_other);
  EXPECT_THAT(ErrorOf("/v1/rank", request), HasSubstr("interleave: is only"));
  request["impression"] = Json::object();
  request["model"] = Named("tiny");
  EXPECT_THAT(ErrorOf("/v1/rank", request), HasSubstr("model: cannot be set"));
  request.erase("model");
  request["interleave"].erase("b");
  EXPECT_THAT(ErrorOf("/v1/rank", request),
              HasSubstr("needs one of b and request_order"));
  request["interleave"] = {{"request_order", true}};
  request["vectors"] = Json::array({Json(std::vector<float>(16, .25f))});
  EXPECT_THAT(ErrorOf("/v1/rank", request), HasSubstr("vectors: are of one"));

  Json search = {{"query", "q"}, {"impression", Json::object()}};
  search["interleave"] = {{"request_order", true}};
  EXPECT_THAT(ErrorOf("/v1/search", search), HasSubstr("is for Rank"));
  search.update(by_other);
  search["offset"] = 10;
  EXPECT_THAT(ErrorOf("/v1/search", search), HasSubstr("offset: is for lists"));
}

TEST_F(JsonExperimentsTest, WithoutFlagsAShownListIsTheRanking) {
  EXPECT_EQ(Show(Request())["indices"],
            Rank(Request(), Json::object())["indices"]);
  const auto lists = Impressions();
  ASSERT_THAT(lists, SizeIs(1));
  EXPECT_EQ(lists[0].swapped_first, 0u);
  EXPECT_EQ(lists[0].ranker_b, "");
  EXPECT_EQ(lists[0].results[0].team, 0);
}

TEST_F(JsonExperimentsTest, RankAndSearchCountAnswersByModelVersion) {
  FillCatalog();
  Rank(Request(), Json::object());
  Json request = {{"query", "a title"}};
  Ask("/v1/search", request.dump());
  request["offset"] = 10;
  Ask("/v1/search", request.dump());
  const std::string text = metrics_.Render();
  const std::string labels = "{name=\"tiny\",version=\"1\"} ";
  EXPECT_THAT(text, HasSubstr("semrank_queries_total" + labels + "2\n"));
  EXPECT_THAT(text, HasSubstr("semrank_queries_named_total" + labels + "1\n"));
}

class JsonExploreTest : public JsonExperimentsTest {
 protected:
  JsonExploreTest() : JsonExperimentsTest({.lists = {.explore_rate = 1}}) {}
};

TEST_F(JsonExploreTest, TheImpressionNamesTheTwoThatWereExchanged) {
  Json plain = Rank(Request(), Json::object())["indices"];
  const Json shown = Show(Request())["indices"];
  const auto lists = Impressions();
  ASSERT_THAT(lists, SizeIs(1));
  ASSERT_GE(lists[0].swapped_first, 1u);
  EXPECT_NE(shown, plain);
  std::swap(plain[lists[0].swapped_first - 1],
            plain[lists[0].swapped_second - 1]);
  EXPECT_EQ(shown, plain);
}

TEST_F(JsonExploreTest, WhatTheQueryNamesStaysFirst) {
  Json request = Request();
  request["query"] = request["titles"][3];
  request["name_match"] = true;
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(Show(request)["indices"][0], 3);
  }
  for (const Impression& list : Impressions()) {
    EXPECT_GT(list.swapped_first, 1u);
  }
}

TEST_F(JsonExploreTest, TheFirstPageOfASearchIsExplored) {
  FillCatalog();
  Json request = {{"query", "some query"}, {"impression", Json::object()}};
  const Json shown = Ask("/v1/search", request.dump())["hits"];
  request["offset"] = 10;
  Ask("/v1/search", request.dump());
  const auto lists = Impressions();
  ASSERT_THAT(lists, SizeIs(2));
  EXPECT_GE(lists[0].swapped_first, 1u);
  EXPECT_EQ(lists[0].results[0].document, shown[0]["id"]);
  EXPECT_EQ(lists[1].swapped_first, 0u);
}

class JsonInterleaveFlagTest : public JsonExperimentsTest {
 protected:
  JsonInterleaveFlagTest()
      : JsonExperimentsTest({.lists = {.explore_rate = 1,
                                       .interleave_share = 1,
                                       .interleave_a = "tiny",
                                       .interleave_b = "other"}}) {}
};

TEST_F(JsonInterleaveFlagTest, ListsOfModelAAreInterleavedAndNotExplored) {
  Show(Request());
  Show(Request(), {{"model", Named("other")}});
  Rank(Request(), Json::object());
  const auto lists = Impressions();
  ASSERT_THAT(lists, SizeIs(2));
  EXPECT_EQ(lists[0].ranker_a, "tiny/1");
  EXPECT_EQ(lists[0].ranker_b, "other/1");
  EXPECT_EQ(lists[0].swapped_first, 0u);
  EXPECT_EQ(lists[1].ranker_b, "");
  EXPECT_GE(lists[1].swapped_first, 1u);
}

class JsonShadowTest : public JsonExperimentsTest {
 protected:
  JsonShadowTest() : JsonExperimentsTest({.shadow_model = "other"}) {}
};

TEST_F(JsonShadowTest, AnAnsweredRequestIsRankedOnceMore) {
  const Json answer = Rank(Request(), Json::object());
  EXPECT_EQ(answer["model"]["name"], "tiny");
  // The answer may arrive before the request is queued.
  while (parts_.shadow->GetStats().num_ranked +
             parts_.shadow->GetStats().num_dropped ==
         0) {
    std::this_thread::yield();
  }
  EXPECT_THAT(metrics_.Render(),
              HasSubstr("semrank_shadow_overlap_at_10_count"));
}

}  // namespace
}  // namespace semrank
