#include "server/pages/operator_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace semrank {
namespace {

using ::testing::HasSubstr;
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

}  // namespace
}  // namespace semrank
