#include "server/pages/pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

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

TEST(BrowserPagesTest, FilesAreThereWithATypeAndAStrictPolicy) {
  HttpPages pages;
  AddBrowserPages("127.0.0.1:4711", pages);
  for (const auto& [path, page] : pages) {
    const HttpResponse response = page();
    EXPECT_EQ(response.status, 200) << path;
    EXPECT_GT(response.body.size(), 100u) << path;
    EXPECT_EQ(response.headers[0].first, "Content-Security-Policy");
    EXPECT_THAT(response.headers[0].second, Not(HasSubstr("unsafe")));
  }
  EXPECT_THAT(pages["/"]().content_type, HasSubstr("text/html"));
  EXPECT_THAT(pages["/"]().body, HasSubstr("content=\"4711\""));
  EXPECT_THAT(pages["/pages/playground.js"]().content_type,
              HasSubstr("text/javascript"));
}

TEST(BrowserPagesTest, NothingComesFromElsewhere) {
  HttpPages pages;
  AddBrowserPages("127.0.0.1:4711", pages);
  for (const auto& [path, page] : pages) {
    EXPECT_THAT(page().body, Not(HasSubstr("https://"))) << path;
    EXPECT_THAT(page().body, Not(HasSubstr("style="))) << path;
  }
}

TEST(BrowserPagesTest, OpenApiIsJson) {
  HttpPages pages;
  AddOpenApi(pages);
  const auto api =
      nlohmann::json::parse(pages["/openapi.json"]().body, nullptr, false);
  EXPECT_EQ(api["openapi"], "3.1.0");
}

TEST(BrowserPagesTest, UnknownFileIsEmpty) {
  EXPECT_EQ(EmbeddedFile("passwd"), "");
}

}  // namespace
}  // namespace semrank
