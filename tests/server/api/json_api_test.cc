#include "server/api/json_api.h"

#include <functional>
#include <future>
#include <thread>

#include "server/base/errors.h"
#include "server/vectors/stored_vectors.h"
#include "tests/server/api/json_api_fixture.h"
#include "tests/support/fake_document_store.h"
#include "tests/support/gated_model.h"
#include "tests/support/plain_client.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;

TEST_F(JsonApiTest, RanksWithTheFieldNamesOfTheApi) {
  const HttpAnswer answer =
      Post("/v1/rank",
           R"({"query": "blue shoes", "titles": ["red hat", "blue shoes"],
               "top_k": 1, "with_titles": true})");
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.content_type, "application/json");
  const Json response = Json::parse(answer.body);
  EXPECT_EQ(response["indices"].size(), 1u);
  EXPECT_EQ(response["titles"].size(), 1u);
  EXPECT_EQ(response["model"]["version"], "1");
  EXPECT_EQ(response["cache_misses"], 2);
}

TEST_F(JsonApiTest, ExplainsWhatEachWordAddsToTheScoreOfRank) {
  const Json ranked = Json::parse(
      Post("/v1/rank", R"({"query": "blue shoes", "titles": ["shoes"]})").body);
  const HttpAnswer answer =
      Post("/v1/explain", R"({"query": "blue shoes", "title": "shoes"})");
  ASSERT_EQ(answer.status, 200) << answer.body;
  const Json response = Json::parse(answer.body);
  EXPECT_EQ(response["score"], ranked["scores"][0]);
  ASSERT_EQ(response["query_words"].size(), 2u);
  EXPECT_EQ(response["query_words"][1]["word"], "shoes");
  EXPECT_EQ(Error(Post("/v1/explain", R"({"query": "q"})")),
            "400 INVALID_FIELD");
}

TEST_F(JsonApiTest, SearchesTheCatalog) {
  ASSERT_TRUE(
      catalog_.update.Follow([this] { return models_.current(); }).ok());
  const std::vector<NewDocument> documents = {
      {std::uint64_t{7}, "running shoes", "payload"},
      {std::string_view("lamp"), "desk lamp", ""}};
  PutState state;
  PutResult put;
  ASSERT_TRUE(
      catalog_.writer.PutSlice(documents, FakeCaller(), state, put).ok());
  const HttpAnswer answer =
      Post("/v1/search",
           R"({"query": "running shoes", "top_k": 1, "with_titles": true,
               "name_match": false})");
  ASSERT_EQ(answer.status, 200) << answer.body;
  const Json response = Json::parse(answer.body);
  ASSERT_EQ(response["hits"].size(), 1u);
  EXPECT_EQ(response["num_documents_searched"], "2");
  const Json ranked = Json::parse(
      Post("/v1/rank",
           R"({"query": "running shoes", "ids": ["7"], "document_ids": ["lamp"],
               "top_k": 1, "with_titles": true})")
          .body);
  EXPECT_EQ(ranked["titles"][0], response["hits"][0]["title"]);
  EXPECT_EQ(ranked["scores"][0], response["hits"][0]["score"]);
  const Json named =
      Json::parse(Post("/v1/rank", R"({"query": "lamp", "ids": ["7"],
                           "document_ids": ["lamp"], "name_match": true})")
                      .body);
  EXPECT_EQ(named["indices"][0], 1);
  EXPECT_EQ(named["name_matches"][0], "NAME_MATCH_NAME");
}

TEST_F(JsonApiTest, ErrorsHaveTheCodeAndReasonOfGrpc) {
  EXPECT_EQ(Error(Post("/v1/rank", "{")), "400 MALFORMED_MESSAGE");
  EXPECT_EQ(Error(Post("/v1/rank", R"({"querry": "q"})")),
            "400 MALFORMED_MESSAGE");
  EXPECT_EQ(Error(Post("/v1/rank", "{}")), "400 EMPTY_QUERY");
  EXPECT_EQ(Error(Post("/v1/embed", R"({"texts": ["a"]})")),
            "400 INVALID_FIELD");
  EXPECT_EQ(
      Error(Post("/v1/rank",
                 R"({"query": "q", "titles": ["a"], "model": {"name": "x"}})")),
      "404 MODEL_NOT_FOUND");
}

TEST_F(JsonApiTest, OverTheAdmissionLimitIs429WithRetryAfter) {
  const auto permit = admission_.Admit(1'000);
  const HttpAnswer answer =
      Post("/v1/rank", R"({"query": "q", "titles": ["a"]})");
  EXPECT_EQ(Error(answer), "429 OVERLOADED");
  EXPECT_THAT(answer.headers, HasSubstr("Retry-After: 1\n"));
}

struct TooLargeCase {
  std::string_view path;
  std::string body;  // of four texts or more
};

TEST_F(JsonApiTest, WhatDoesNotFitIsRefusedAndServedOnceItFits) {
  FillCatalog();                     // a search is five texts
  const std::string rows(256, 'A');  // three, in base64
  for (const TooLargeCase& test : std::vector<TooLargeCase>{
           {"/v1/rank", R"({"query": "q", "titles": ["a", "b", "c"]})"},
           {"/v1/rank",
            R"({"query": "q", "documentIds": ["a"], "ids": [1, 2]})"},
           {"/v1/rank", "{\"query\": \"q\", \"vectors\": \"" + rows + "\"}"},
           {"/v1/explain", R"({"title": "a b", "query": "c"})"},
           {"/v1/explain", R"({"query": "a", "id": "7"})"},  // "a title"
           {"/v1/embed",
            R"({"side": "SIDE_QUERY", "texts": ["a", "b", "c", "d"]})"},
           {"/v1/search", R"({"query": "q"})"}}) {
    SCOPED_TRACE(test.body);
    {
      const auto permit = admission_.Admit(997);
      const HttpAnswer answer = Post(std::string(test.path), test.body);
      EXPECT_EQ(Error(answer), "429 OVERLOADED");
      EXPECT_THAT(answer.headers, HasSubstr("Retry-After: 1\n"));
      EXPECT_EQ(admission_.inflight_texts(), 997);
    }
    EXPECT_EQ(Post(std::string(test.path), test.body).status, 200);
  }
  EXPECT_EQ(admission_.inflight_texts(), 0);
}

TEST_F(JsonApiTest, WithoutRoomForATextNoBodyIsRead) {
  const auto permit = admission_.Admit(1'000);
  for (auto& [path, call] : JsonApi(parts_, {kMaxBodyBytes, allowed_})) {
    if (!call.handle && !call.open_stream) continue;
    const bool has_texts = !call.takes_get && path != "/v1/reload";
    const std::optional<HttpResponse> refusal = call.admit({});
    ASSERT_EQ(refusal.has_value(), has_texts) << path;
    if (has_texts) {
      EXPECT_EQ(refusal->status, 429);
    }
  }
  EXPECT_THAT(metrics_.Render(),
              HasSubstr("requests_rejected_total{reason=\"OVERLOADED\"} 18"));
}

TEST_F(JsonApiTest, WhatNeverBecomesACallIsAnsweredAndCountedLikeOne) {
  const std::string id = "x-request-id: order-8\r\n";
  const HttpAnswer too_large =
      Post("/v1/rank", std::string(kMaxBodyBytes + 1, ' '), id);
  EXPECT_EQ(Error(too_large), "413 MESSAGE_TOO_LARGE");
  const HttpAnswer not_posted =
      CallHttp(server_->address(), "GET", "/v1/rank", {id});
  EXPECT_EQ(Error(not_posted), "405 NOT_IMPLEMENTED");
  const HttpAnswer no_call = Post("/v1/rnak", "{}", id);
  EXPECT_EQ(Error(no_call), "404 NOT_IMPLEMENTED");
  for (const HttpAnswer& answer : {too_large, not_posted, no_call}) {
    EXPECT_EQ(answer.content_type, "application/json");
    EXPECT_THAT(answer.headers, HasSubstr("x-request-id: order-8\n"));
  }
  ASSERT_EQ(log_.failures().size(), 3u);
  EXPECT_EQ(log_.failures()[0].method, "/v1/");
  EXPECT_EQ(log_.failures()[2].method, "POST /v1/rank");
  EXPECT_EQ(CountOf("started_total{"), "2");
  EXPECT_EQ(CountOf("handled_total{grpc_code=\"ResourceExhausted\","), "1");
  EXPECT_EQ(CountOf("handled_total{grpc_code=\"Unimplemented\","), "1");
}

TEST_F(JsonApiTest, ABodyThatDoesNotComeIsCountedOnce) {
  HttpCall call = JsonApi(parts_, {kMaxBodyBytes, allowed_})["/v1/rank"];
  ASSERT_FALSE(call.admit({}).has_value());
  const HttpResponse refused = call.refuse(
      {}, {408, absl::DeadlineExceededError("too slow"), /*admitted=*/true});
  EXPECT_EQ(refused.status, 408);
  EXPECT_THAT(refused.body, HasSubstr("DEADLINE_EXCEEDED"));
  EXPECT_EQ(CountOf("started_total{"), "1");
  EXPECT_EQ(CountOf("handled_total{grpc_code=\"DeadlineExceeded\","), "1");
  EXPECT_THAT(metrics_.Render(),
              HasSubstr("rejected_total{reason=\"DEADLINE_EXCEEDED\"} 1"));
}

TEST_F(JsonApiTest, TheCallThatFindsNoThreadIsOneOfTheOverload) {
  const HttpResponse refused =
      JsonApi(parts_, {kMaxBodyBytes, allowed_})["/v1/rank"].refuse(
          {},
          {429, MakeError(absl::StatusCode::kResourceExhausted, "OVERLOADED",
                          "no thread", {{"retry_delay_ms", "100"}})});
  EXPECT_EQ(refused.status, 429);
  EXPECT_THAT(refused.body, HasSubstr("OVERLOADED"));
  EXPECT_THAT(refused.headers,
              ::testing::Contains(std::pair("Retry-After", "1")));
  EXPECT_THAT(metrics_.Render(),
              HasSubstr("requests_rejected_total{reason=\"OVERLOADED\"} 1"));
}

TEST_F(JsonApiTest, ADrainingServerIs503) {
  lifecycle_.Advance(Lifecycle::State::kStopping);
  EXPECT_EQ(Error(Post("/v1/rank", "{}")), "503 DRAINING");
}

TEST_F(JsonApiTest, WhatStillRunsWhenTheServerEndsIsBrokenOffAndTold) {
  Gate gate;
  folder_.Put(2, MakeGatedModel(&gate));
  ASSERT_TRUE(models_.Refresh().ok());
  gate.Close();
  Json request = {{"side", "SIDE_DOCUMENT"}};
  for (int i = 0; i < 600; ++i) request["texts"].push_back(std::to_string(i));
  auto call = std::async(std::launch::async,
                         [&] { return Post("/v1/embed", request.dump()); });
  gate.WaitForArrival();
  lifecycle_.Advance(Lifecycle::State::kEnding);
  gate.Open();
  EXPECT_EQ(Error(call.get()), "503 DRAINING");
}

TEST_F(JsonApiTest, WorkWhoseClientHasLeftIsDroppedAndCounted) {
  Gate gate;
  folder_.Put(2, MakeGatedModel(&gate));
  ASSERT_TRUE(models_.Refresh().ok());
  std::function<bool()> client_left;
  HttpCalls calls = JsonApi(parts_, {kMaxBodyBytes, allowed_});
  calls["/v1/rank"].handle = [&, handle = calls["/v1/rank"].handle](
                                 const HttpRequest& request, absl::Duration,
                                 HttpDone done) {
    client_left = request.client_left;
    // In a worker, since the I/O thread is to see that the client leaves.
    handle(request, absl::ZeroDuration(), std::move(done));
  };
  server_ = HttpServer::Start("127.0.0.1:0", {}, calls).value();
  gate.Close();
  Json request = {{"query", "q"}};
  for (int i = 0; i < 600; ++i) request["titles"].push_back(std::to_string(i));
  const std::string body = request.dump();
  {
    PlainClient client(server_->address());
    ASSERT_TRUE(
        client.Send("POST /v1/rank HTTP/1.1\r\nHost: h\r\nContent-Length: " +
                    std::to_string(body.size()) + "\r\n\r\n" + body));
    gate.WaitForArrival();
  }
  while (!client_left()) std::this_thread::yield();
  gate.Open();
  EXPECT_TRUE(server_->WaitForCalls(absl::Now() + absl::Minutes(1)));
  EXPECT_EQ(CountOf("handled_total{grpc_code=\"Canceled\""), "1");
}

class CallThreadTest : public JsonApiTest {
 protected:
  // Whether a cheap Rank is done when the thread that began it comes back.
  bool RunsInCallersThread() {
    const HttpCalls calls = JsonApi(parts_, {kMaxBodyBytes, allowed_});
    const HttpRequest request = {.body = R"({"query": "q", "titles": ["a"]})",
                                 .client_left = [] { return false; }};
    std::promise<std::thread::id> done;
    calls.at("/v1/rank")
        .handle(request, absl::InfiniteDuration(),
                [&](std::optional<HttpResponse>) {
                  done.set_value(std::this_thread::get_id());
                });
    return done.get_future().get() == std::this_thread::get_id();
  }
};

TEST_F(CallThreadTest, TheCallersThreadRunsACheapCall) {
  EXPECT_TRUE(RunsInCallersThread());
}

TEST_F(CallThreadTest, AWorkerRunsACallThatMayWaitForAStore) {
  FakeDocumentStore store;
  StoredVectors stored(&store, parts_.metrics, {});
  parts_.stored = &stored;
  EXPECT_FALSE(RunsInCallersThread());
}

TEST_F(JsonApiTest, CallsThatAreOffAreRefusedWithTheReason) {
  allowed_ = MakeError(absl::StatusCode::kPermissionDenied, "HTTP_CALLS_OFF",
                       "calls are off");
  Serve();
  EXPECT_EQ(Error(Post("/v1/rank", R"({"query": "q", "titles": ["a"]})")),
            "403 HTTP_CALLS_OFF");
  EXPECT_EQ(CountOf("handled_total{grpc_code=\"PermissionDenied\","), "1");
}

TEST_F(JsonApiTest, KeysCountAsOverGrpc) {
  const TempDir dir;
  access_ =
      AccessControl::FromFile(
          dir.Write("keys",
                    "read ec4408df15da46b328f6f3246fa723d0aa6cb0f0a0dd9c4626080"
                    "ab1b02aa3b2"))
          .value();
  Serve();
  const std::string body = R"({"query": "q", "titles": ["a"]})";
  EXPECT_EQ(
      Post("/v1/rank", body, "Authorization: Bearer reader-key\r\n").status,
      200);
  const HttpAnswer refused = Post("/v1/rank", body);
  EXPECT_EQ(Error(refused), "401 MISSING_KEY");
  EXPECT_THAT(refused.headers, HasSubstr("WWW-Authenticate: Bearer\n"));
  EXPECT_EQ(Error(Post("/v1/rank", body, "Authorization: Bearer x\r\n")),
            "401 UNKNOWN_KEY");
}

TEST_F(JsonApiTest, TheRequestIdComesBackAndIsRemembered) {
  const HttpAnswer answer = Post("/v1/rank", "{}", "x-request-id: order-7\r\n");
  EXPECT_THAT(answer.headers, HasSubstr("x-request-id: order-7\n"));
  ASSERT_EQ(log_.failures().size(), 1u);
  EXPECT_EQ(log_.failures()[0].request_id, "order-7");
  EXPECT_EQ(log_.failures()[0].method, "POST /v1/rank");
}

TEST_F(JsonApiTest, OutcomesAreCountedAsTypeHttp) {
  Post("/v1/rank", "{}");
  EXPECT_THAT(metrics_.Render(),
              HasSubstr("grpc_server_handled_total{grpc_code="
                        "\"InvalidArgument\",grpc_method=\"Rank\",grpc_service="
                        "\"semrank.v1.RankingService\",grpc_type=\"http\"} 1"));
}

}  // namespace
}  // namespace semrank
