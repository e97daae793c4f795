#include "server/pages/pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "server/pages/embedded_files.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using State = Lifecycle::State;

class OperatorPagesTest : public ::testing::Test {
 protected:
  HttpResponse Get(const std::string& path) { return pages_.at(path)(); }

  Lifecycle lifecycle_;
  Metrics metrics_;
  HttpPages pages_ = OperatorPages(&lifecycle_, &metrics_);
};

TEST_F(OperatorPagesTest, HealthzIsFineInEveryState) {
  for (const State state :
       {State::kLoading, State::kServing, State::kDraining, State::kStopping}) {
    lifecycle_.Advance(state);
    EXPECT_EQ(Get("/healthz").status, 200);
  }
}

TEST_F(OperatorPagesTest, ReadyzFollowsTheLifecycleAndSaysWhy) {
  EXPECT_EQ(Get("/readyz").status, 503);
  EXPECT_EQ(Get("/readyz").body, "no model is loaded yet\n");
  lifecycle_.Advance(State::kServing);
  EXPECT_EQ(Get("/readyz").status, 200);
  lifecycle_.Advance(State::kDraining);
  EXPECT_EQ(Get("/readyz").status, 503);
  EXPECT_EQ(Get("/readyz").body, "the server is draining\n");
}

TEST_F(OperatorPagesTest, MetricsAreInPrometheusTextFormat) {
  const HttpResponse metrics = Get("/metrics");
  EXPECT_EQ(metrics.status, 200);
  EXPECT_THAT(metrics.content_type, HasSubstr("version=0.0.4"));
  EXPECT_THAT(metrics.body, HasSubstr("# TYPE semrank_build_info gauge"));
}

class BrowserPagesTest : public ::testing::Test {
 protected:
  // With a search call that gives `answer` and keeps the body that it got.
  void AddPages(bool needs_key = false) {
    HttpCall search;
    search.admit = [this](const HttpRequest&) { return refusal_; };
    search.handle = [this](const HttpRequest& request, absl::Duration,
                           HttpDone done) {
      searched_ = request.body;
      std::move(done)(answer_);
    };
    search.refuse = [this](const HttpRequest&, const HttpRefusal&) {
      return *refusal_;
    };
    calls_["/v1/search"] = search;
    AddBrowserPages({.grpc_address = "127.0.0.1:4711",
                     .needs_key = needs_key,
                     .max_top_k = max_top_k_},
                    pages_, calls_);
  }
  HttpResponse Submit(const std::string& query) {
    const HttpCall& call = calls_.at("/?");
    const HttpRequest request = {.is_get = true, .query = query};
    auto refusal = call.admit(request);
    if (refusal.has_value()) return *refusal;
    HttpResponse response;
    call.handle(request, absl::ZeroDuration(),
                [&](std::optional<HttpResponse> answer) {
                  response = *std::move(answer);
                });
    return response;
  }

  HttpPages pages_;
  HttpCalls calls_;
  std::int64_t max_top_k_ = 1'000;
  std::optional<HttpResponse> refusal_;
  HttpResponse answer_;
  std::string searched_;
};

TEST_F(BrowserPagesTest, FilesAreThereWithATypeAndAStrictPolicy) {
  AddPages();
  for (const auto& [path, page] : pages_) {
    const HttpResponse response = page();
    EXPECT_EQ(response.status, 200) << path;
    EXPECT_GT(response.body.size(), 100u) << path;
    EXPECT_THAT(response.body, Not(HasSubstr("{{"))) << path;
    EXPECT_EQ(response.headers[0].first, "Content-Security-Policy");
    EXPECT_THAT(response.headers[0].second, Not(HasSubstr("unsafe")));
  }
  EXPECT_THAT(pages_["/"]().content_type, HasSubstr("text/html"));
  EXPECT_THAT(pages_["/"]().body, HasSubstr("content=\"4711\""));
  EXPECT_THAT(pages_["/pages/playground.js"]().content_type,
              HasSubstr("text/javascript"));
  EXPECT_THAT(pages_["/pages/style.css"]().content_type, HasSubstr("text/css"));
}

TEST_F(BrowserPagesTest, NothingComesFromElsewhere) {
  AddPages();
  for (const auto& [path, page] : pages_) {
    EXPECT_THAT(page().body, Not(HasSubstr("https://"))) << path;
    EXPECT_THAT(page().body, Not(HasSubstr("style="))) << path;
  }
}

TEST_F(BrowserPagesTest, FormSearchesWithTheDecodedQuery) {
  AddPages();
  answer_.body =
      R"({"hits":[{"id":"1","score":0.75,"title":"<b>"},{"id":"2"}],)"
      R"("num_documents_searched":"2","score_kind":"SCORE_KIND_COSINE"})";
  answer_.headers = {{"x-request-id", "7"}};
  const HttpResponse page = Submit("model=x&q=red+%22%C3%BC%22%3Ci%3E%");
  EXPECT_EQ(nlohmann::json::parse(searched_)["query"], "red \"ü\"<i>%");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.headers[0].first, "Content-Security-Policy");
  EXPECT_EQ(page.headers.back().second, "7");
  EXPECT_THAT(page.body, HasSubstr("value=\"red &quot;ü&quot;&lt;i&gt;%\""));
  EXPECT_THAT(page.body, HasSubstr("&lt;b&gt;</span>"));
  EXPECT_THAT(page.body, HasSubstr(">0.7500<"));
  EXPECT_THAT(page.body, Not(HasSubstr("2.</span>"))) << "scores 0";
}

TEST_F(BrowserPagesTest, NoPageAsksForMoreThanAServerAllows) {
  const auto top_k = [&] {
    AddPages();
    Submit("q=x");
    return nlohmann::json::parse(searched_)["top_k"].get<int>();
  };
  EXPECT_EQ(top_k(), 20);
  max_top_k_ = 5;
  EXPECT_EQ(top_k(), 5);
  EXPECT_THAT(pages_["/"]().body,
              HasSubstr("name=\"max-top-k\" content=\"5\""));
}

TEST_F(BrowserPagesTest, FormSaysThatNothingMatches) {
  AddPages();
  answer_.body = R"({"hits":[{"id":"2"}],"num_documents_searched":"2"})";
  EXPECT_THAT(Submit("q=%3C").body, HasSubstr("Nothing matches “&lt;”."));
  answer_.body = R"({"num_documents_searched":"2","query_known_features":{}})";
  EXPECT_THAT(Submit("q=xyz").body, HasSubstr("knows no word of “xyz”."));
  answer_.body = "{}";
  EXPECT_THAT(Submit("q=x").body, HasSubstr("The catalog is empty."));
}

TEST_F(BrowserPagesTest, FormWithoutAQueryIsThePlayground) {
  AddPages();
  EXPECT_EQ(Submit("q=++&model=x").body, pages_["/"]().body);
  EXPECT_EQ(searched_, "");
}

TEST_F(BrowserPagesTest, RefusedSearchIsShownOnThePage) {
  AddPages();
  refusal_ = HttpResponse{.status = 429,
                          .body = R"({"message":"busy <now>"})",
                          .headers = {{"Retry-After", "1"}}};
  const HttpResponse page = Submit("q=%FF");
  EXPECT_EQ(page.status, 429);
  EXPECT_EQ(page.headers.back().first, "Retry-After");
  EXPECT_THAT(page.body, HasSubstr("The search failed: busy &lt;now&gt;"));
}

TEST_F(BrowserPagesTest, WithKeysTheFormNeedsJavaScript) {
  AddPages(/*needs_key=*/true);
  EXPECT_FALSE(calls_.contains("/?"));
  EXPECT_THAT(pages_["/"]().body, HasSubstr("needs JavaScript to send one"));
}

TEST_F(BrowserPagesTest, OpenApiIsJson) {
  HttpPages pages;
  AddOpenApi(pages);
  const auto api =
      nlohmann::json::parse(pages["/openapi.json"]().body, nullptr, false);
  EXPECT_EQ(api["openapi"], "3.1.0");
}

TEST_F(BrowserPagesTest, UnknownFileIsEmpty) {
  EXPECT_EQ(EmbeddedFile("passwd"), "");
}

}  // namespace
}  // namespace semrank
