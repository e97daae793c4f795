// Impressions, events and UBI records as JSON.
#include "model/format/sha256.h"
#include "tests/server/api/json_api_fixture.h"
#include "tests/support/event_folder.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct EventFolder {
  TempDir dir;
};

// The folder comes before the server that locks it.
class JsonEventsTest : private EventFolder, public JsonApiTest {
 protected:
  JsonEventsTest() : JsonApiTest(WithEvents(dir.path())) { FollowModels(); }

  static ServerOptions WithEvents(const std::string& folder) {
    ServerOptions options = Options();
    options.events.destination = EventFiles::Options{.folder = folder};
    return options;
  }
  std::string Folder() const { return dir.path(); }
  std::string ImpressionOf(const std::string& path, const Json& request) {
    return Ask(path, request.dump()).value("impression_id", "");
  }
  std::string RankTitles() {
    return ImpressionOf("/v1/rank", {{"query", "shoe"},
                                     {"titles", {"red shoe", "lamp"}},
                                     {"impression", Json::object()}});
  }
  static Json Click(const std::string& impression) {
    return {{"impression_id", impression}, {"kind", "click"}, {"position", 1}};
  }
  HttpAnswer ReportOne(const Json& event) {
    return Post("/v1/events", Json{{"events", {event}}}.dump());
  }
  // A report waits for its commit, which has the impressions before it.
  std::vector<Impression> ImpressionsOnDisk() {
    ReportOne(Click("any"));
    return RecordsOf<Impression>(Folder());
  }
  void UseKeys(const std::string& lines) {
    access_ = AccessControl::FromFile(keys_.Write("keys", lines)).value();
    Serve();
  }

  TempDir keys_;
};

TEST_F(JsonEventsTest, ARankedListAndAClickOnItAreOnDisk) {
  const std::string id = RankTitles();
  ASSERT_THAT(id, SizeIs(22));
  const Json answer =
      Ask("/v1/events", R"({"events": [{"impression_id": ")" + id +
                            R"(", "kind": "click", "position": 1}]})");
  EXPECT_EQ(answer, Json({{"accepted", 1}}));
  const auto lists = RecordsOf<Impression>(Folder());
  ASSERT_THAT(lists, SizeIs(1));
  EXPECT_EQ(lists[0].id, id);
  EXPECT_EQ(lists[0].query, "shoe");
  EXPECT_EQ(lists[0].ranker, "tiny/1");
  ASSERT_THAT(lists[0].results, SizeIs(2));
  EXPECT_EQ(lists[0].results[0].document, "");
  const auto clicks = RecordsOf<Event>(Folder());
  ASSERT_THAT(clicks, SizeIs(1));
  EXPECT_EQ(clicks[0].impression, id);
  EXPECT_GE(clicks[0].time_ms, lists[0].time_ms);
}

TEST_F(JsonEventsTest, WithoutTheFieldNothingIsKept) {
  EXPECT_EQ(ImpressionOf("/v1/rank", {{"query", "q"}, {"titles", {"a"}}}), "");
  EXPECT_THAT(ImpressionsOnDisk(), IsEmpty());
}

TEST_F(JsonEventsTest, ASearchKeepsIdsAndTitlesOfItsHits) {
  Ask("/v1/put",
      R"({"documents": [{"document_id": "lamp", "title": "desk lamp"},
                                   {"id": "7", "title": "running shoes"}]})");
  const std::string id = ImpressionOf(
      "/v1/search", {{"query", "lamp"},
                     {"impression", {{"user", "ann"}, {"session", "ann"}}}});
  EXPECT_THAT(id, SizeIs(22));
  const auto lists = ImpressionsOnDisk();
  ASSERT_THAT(lists, SizeIs(1));
  ASSERT_THAT(lists[0].results, SizeIs(2));
  EXPECT_EQ(lists[0].results[0].document, "lamp");
  EXPECT_EQ(lists[0].results[0].title, "desk lamp");
  EXPECT_EQ(lists[0].results[1].document, "7");
  EXPECT_THAT(lists[0].user, SizeIs(22));
  EXPECT_NE(lists[0].user, lists[0].session);
}

TEST_F(JsonEventsTest, ALongListKeepsItsFirstResults) {
  FillCatalog();
  const Json titles(std::vector<std::string>(250, "title"));
  const Json none = Json::object();
  const std::string ranked = ImpressionOf(
      "/v1/rank",
      {{"query", "title"}, {"titles", titles}, {"impression", none}});
  ImpressionOf("/v1/search",
               {{"query", "title"}, {"top_k", 220}, {"impression", none}});
  const auto lists = ImpressionsOnDisk();
  ASSERT_THAT(lists, SizeIs(2));
  EXPECT_THAT(lists[0].results, SizeIs(kMaxShownResults));
  EXPECT_THAT(lists[1].results, SizeIs(kMaxShownResults));
  // A click further down refers to the list as it was returned.
  Json click = Click(ranked);
  click["position"] = 250;
  EXPECT_EQ(ReportOne(click).status, 200);
  click["position"] = 251;
  EXPECT_THAT(ReportOne(click).body,
              HasSubstr("events[0].position: 251 is beyond the list of 250"));
}

TEST_F(JsonEventsTest, BadEventsAreRefusedByName) {
  const std::string list = RankTitles();
  const auto soon = absl::ToUnixMillis(absl::Now() + absl::Minutes(6));
  struct Case {
    const char* member;
    Json value;
    const char* error;
  };
  const Case cases[] = {
      {"impression_id", "", "events[0].impression_id: must be 1 to 128"},
      {"impression_id", "a b", "events[0].impression_id: must be 1 to 128"},
      {"impression_id", std::string(129, 'a'), "impression_id: must be 1 to"},
      {"kind", "", "events[0].kind: must be click"},
      {"kind", "Click", "events[0].kind: must be click"},
      {"kind", std::string(65, 'a'), "events[0].kind: must be click"},
      {"position", 3, "position: 3 is beyond the list of 2 results"},
      {"position", 0, "events[0].position: is not set"},
      {"time_ms", -1, "events[0].time_ms: -1 is negative"},
      {"time_ms", soon, "is more than five minutes in the future"},
      {"event_id", "\u00e4", "events[0].event_id: must be 1 to 128"},
      {"value", "Infinity", "events[0].value: is not finite"},
      {"document", std::string(5'000, 'a'), "events[0].document"},
  };
  for (const Case& bad : cases) {
    Json event = Click(list);
    event[bad.member] = bad.value;
    const HttpAnswer answer = ReportOne(event);
    EXPECT_EQ(answer.status, 400) << event;
    EXPECT_THAT(answer.body, HasSubstr(bad.error));
  }
  EXPECT_EQ(Post("/v1/events", "{\"events\":[{\"document\":\"\xff\"}]}").status,
            400);
  EXPECT_THAT(RecordsOf(Folder()), SizeIs(0));
}

TEST_F(JsonEventsTest, OneBadEventRefusesTheWholeReport) {
  Json bad = Click("a");
  bad["kind"] = "?";
  EXPECT_EQ(
      Post("/v1/events", Json{{"events", {Click("a"), bad}}}.dump()).status,
      400);
  EXPECT_THAT(RecordsOf(Folder()), IsEmpty());
}

TEST_F(JsonEventsTest, UnknownImpressionsAreKeptAndCounted) {
  EXPECT_EQ(Json::parse(ReportOne(Click("elsewhere")).body),
            Json({{"accepted", 1}, {"unknown_impressions", 1}}));
  Json far = Click("elsewhere");
  far["position"] = kMaxShownResults + 1;
  EXPECT_EQ(ReportOne(far).status, 400);
  EXPECT_THAT(metrics_.Render(), HasSubstr("semrank_event_orphans_total 1"));
}

TEST_F(JsonEventsTest, AnEventWithAnIdCountsOnce) {
  Json event = Click("list");
  event["event_id"] = "e-1";
  EXPECT_EQ(ReportOne(event).status, 200);
  EXPECT_EQ(Json::parse(ReportOne(event).body), Json({{"duplicates", 1}}));
  EXPECT_THAT(RecordsOf<Event>(Folder()), SizeIs(1));
}

TEST_F(JsonEventsTest, TooManyEventsAreRefusedWithTheLimit) {
  const Json events(std::vector<Json>(901, Click("list")));
  EXPECT_EQ(Error(Post("/v1/events", Json{{"events", events}}.dump())),
            "400 TOO_MANY_TEXTS");
  // Results of lists count too.
  const Json results(std::vector<Json>(900, {{"document", "a"}}));
  EXPECT_EQ(Error(Post("/v1/events",
                       Json{{"impressions", {{{"results", results}}}}}.dump())),
            "400 TOO_MANY_TEXTS");
}

TEST_F(JsonEventsTest, ListsOfOtherSystemsGetTitlesOfTheCatalog) {
  Ask("/v1/put",
      R"({"documents": [{"document_id": "lamp", "title": "desk lamp"},
                                   {"id": "7", "title": "running shoes"}]})");
  const Json answer = Ask("/v1/events", R"({"impressions": [
      {"query": "shoe", "user": "ann", "ranker": "solr", "results": [
        {"document": "7"}, {"document": "lamp"}, {"document": "x", "title": "mine"},
        {"document": "y"}]},
      {"impression_id": "mine", "query": "lamp"}]})");
  EXPECT_EQ(answer["accepted"], 2);
  ASSERT_THAT(answer["impression_ids"], SizeIs(2));
  EXPECT_EQ(answer["impression_ids"][1], "mine");
  const auto lists = RecordsOf<Impression>(Folder());
  ASSERT_THAT(lists, SizeIs(2));
  EXPECT_EQ(lists[0].id, answer["impression_ids"][0]);
  EXPECT_EQ(lists[0].ranker, "solr");
  std::vector<std::string> titles;
  for (const ShownResult& result : lists[0].results) {
    titles.push_back(result.title);
  }
  EXPECT_THAT(titles,
              testing::ElementsAre("running shoes", "desk lamp", "mine", ""));
}

TEST_F(JsonEventsTest, NamesHaveALimit) {
  const Json impression = {{"user", std::string(257, 'a')}};
  EXPECT_THAT(
      Post("/v1/rank",
           Json{{"query", "q"}, {"titles", {"a"}}, {"impression", impression}}
               .dump())
          .body,
      HasSubstr("impression.user: has 257 bytes, more than 256"));
}

// `printf %s reader-key | sha256sum`, and of events-key.
constexpr char kReader[] =
    "read ec4408df15da46b328f6f3246fa723d0aa6cb0f0a0dd9c4626080ab1b02aa3b2\n";

TEST_F(JsonEventsTest, AKeyForEventsDoesNothingElseAndAReaderDoesNotReport) {
  UseKeys(absl::StrCat(kReader, "write-events ",
                       Sha256Hex("events-key").value(), "\n"));
  const std::string reader = "Authorization: Bearer reader-key\r\n";
  const std::string events = "Authorization: Bearer events-key\r\n";
  const std::string report = Json{{"events", {Click("a")}}}.dump();
  EXPECT_EQ(Error(Post("/v1/events", report, reader)), "403 ROLE_REQUIRED");
  EXPECT_EQ(Post("/v1/events", report, events).status, 200);
  for (const char* path : {"/v1/rank", "/v1/search", "/v1/limits", "/v1/put"}) {
    EXPECT_EQ(Error(Post(path, "{}", events)), "403 ROLE_REQUIRED") << path;
  }
}

TEST_F(JsonEventsTest, UbiRecordsBecomeListsAndEvents) {
  Ask("/v1/put", R"({"documents": [{"document_id": "B1", "title": "shoes"}]})");
  const Json answer = Ask("/v1/ubi", R"([
      {"application": "shop", "query_id": "0011-22", "client_id": "ann",
       "user_query": "red shoe", "query_response_id": "r",
       "query_response_hit_ids": ["B1", "B2"], "query_attributes": {},
       "timestamp": "2018-11-13T20:20:39+00:00"},
      {"action_name": "click_through", "query_id": "0011-22",
       "client_id": "ann", "session_id": "s", "page_id": "/",
       "timestamp": "2018-11-13T20:20:40Z", "message_type": "CLICK",
       "message": "", "event_attributes": {
         "object": {"object_id": "B2", "object_id_field": "sku"},
         "position": {"ordinal": 2, "x": null, "trail": "a"}}},
      {"action_name": "Add To Cart", "query_id": "0011-22",
       "timestamp": 1542140441000,
       "event_attributes": {"object": {"object_id": 5}}},
      {"action_name": "login", "timestamp": "2018-11-13T20:20:39"}])");
  EXPECT_EQ(answer["accepted"], 3);
  EXPECT_EQ(answer["ignored"], 1);
  const auto lists = RecordsOf<Impression>(Folder());
  ASSERT_THAT(lists, SizeIs(1));
  EXPECT_EQ(lists[0].id, "0011-22");
  EXPECT_EQ(lists[0].time_ms, 1'542'140'439'000);
  EXPECT_EQ(lists[0].ranker, "shop");
  ASSERT_THAT(lists[0].results, SizeIs(2));
  EXPECT_EQ(lists[0].results[0].title, "shoes");
  const auto events = RecordsOf<Event>(Folder());
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(events[0], (Event{.impression = "0011-22",
                              .kind = "click",
                              .position = 2,
                              .document = "B2",
                              .time_ms = 1'542'140'440'000}));
  EXPECT_EQ(events[1].kind, "add_to_cart");
  EXPECT_EQ(events[1].document, "5");
}

TEST_F(JsonEventsTest, ASingleUbiRecordAndThePathsOfItsClientWork) {
  for (const char* path : {"/v1/ubi", "/v1/ubi/ubi_events"}) {
    const Json answer = Ask(path, R"({"action_name": "click", "query_id": "q",
                      "event_attributes": {"position": {"ordinal": 1}}})");
    EXPECT_EQ(answer["accepted"], 1);
  }
  EXPECT_EQ(Ask("/v1/ubi/ubi_queries",
                R"({"query_id": "q", "user_query": "a"})")["accepted"],
            1);
  EXPECT_EQ(Ask("/v1/ubi", "[]")["accepted"], 0);
}

TEST_F(JsonEventsTest, OtherThingsThanUbiAreRefused) {
  for (const char* body : {"", "{", "1", "[1]", "[{}]", "{\"a\": \"\xff\"}",
                           R"({"action_name": "click", "query_id": "q",
                               "timestamp": "yesterday"})"}) {
    EXPECT_EQ(Post("/v1/ubi", body).status, 400) << body;
  }
  EXPECT_EQ(Post("/v1/ubi", std::string(50'000, '[')).status, 400);
  EXPECT_EQ(Post("/v1/ubi", std::string(kMaxBodyBytes + 1, ' ')).status, 413);
}

TEST_F(JsonApiTest, WithoutEventsNothingOfThemWorks) {
  for (const auto& [path, body] :
       std::vector<std::pair<std::string, std::string>>{
           {"/v1/rank", R"({"query": "q", "titles": ["a"], "impression": {}})"},
           {"/v1/search", R"({"query": "q", "impression": {}})"},
           {"/v1/events",
            R"({"events": [{"impression_id": "a", "kind": "click"}]})"},
           {"/v1/ubi", "[]"}}) {
    const HttpAnswer answer = Post(path, body);
    EXPECT_EQ(Error(answer), "400 EVENTS_DISABLED") << path;
    EXPECT_THAT(answer.body, HasSubstr("--events"));
  }
}

}  // namespace
}  // namespace semrank
