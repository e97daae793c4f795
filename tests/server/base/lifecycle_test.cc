#include "server/base/lifecycle.h"

#include <gtest/gtest.h>

#include "server/base/errors.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using State = Lifecycle::State;

TEST(LifecycleTest, IsReadyOnlyWhileServing) {
  Lifecycle lifecycle;
  EXPECT_FALSE(lifecycle.ready());
  lifecycle.Advance(State::kServing);
  EXPECT_TRUE(lifecycle.ready());
  lifecycle.Advance(State::kDraining);
  EXPECT_FALSE(lifecycle.ready());
}

TEST(LifecycleTest, NeverMovesBack) {
  Lifecycle lifecycle;
  lifecycle.Advance(State::kDraining);
  lifecycle.Advance(State::kServing);
  EXPECT_EQ(lifecycle.state(), State::kDraining);
}

TEST(LifecycleTest, AnswersWhileServingAndDrainingAndSaysWhyOtherwise) {
  Lifecycle lifecycle;
  EXPECT_EQ(ErrorReason(lifecycle.CheckAnswering()), "MODEL_LOADING");
  lifecycle.Advance(State::kServing);
  EXPECT_THAT(lifecycle.CheckAnswering(), IsOk());
  lifecycle.Advance(State::kDraining);
  EXPECT_THAT(lifecycle.CheckAnswering(), IsOk());
  lifecycle.Advance(State::kStopping);
  EXPECT_THAT(lifecycle.CheckAnswering(),
              StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(ErrorReason(lifecycle.CheckAnswering()), "DRAINING");
}

}  // namespace
}  // namespace semrank
