#include "server/base/unread_responses.h"

#include <gtest/gtest.h>

#include "absl/time/clock.h"

namespace semrank {
namespace {

const CallerId kHog{"hog", "1"};
const CallerId kOtherOfHog{"hog", "2"};
const CallerId kClient{"client", "3"};

TEST(UnreadResponsesTest, UpToTheLimitNothingIsToEnd) {
  UnreadResponses unread(100);
  unread.Add(kHog, 100);
  EXPECT_EQ(unread.num_bytes(), 100);
  EXPECT_FALSE(unread.FindExcess().has_value());
}

TEST(UnreadResponsesTest, TheLargestAccountOfTheLargestCallerIsToFree) {
  UnreadResponses unread(100);
  unread.Add(kHog, 40);
  unread.Add(kOtherOfHog, 30);
  unread.Add(kClient, 50);
  const auto excess = unread.FindExcess();
  ASSERT_TRUE(excess.has_value());
  EXPECT_EQ(excess->account.name, "hog");
  EXPECT_EQ(excess->account.connection, "1");
  EXPECT_EQ(excess->num_bytes, 20);
}

TEST(UnreadResponsesTest, NoAccountFreesMoreThanItHolds) {
  UnreadResponses unread(10);
  unread.Add(kHog, 30);
  unread.Add(kOtherOfHog, 29);
  EXPECT_EQ(unread.FindExcess()->num_bytes, 30);
  unread.Add(kHog, -30);
  EXPECT_EQ(unread.FindExcess()->account.connection, "2");
  EXPECT_EQ(unread.FindExcess()->num_bytes, 19);
}

TEST(UnreadResponsesTest, OnlyMoreBytesOverTheLimitNotify) {
  UnreadResponses unread(10);
  int count = 0;
  const int number = unread.Subscribe([&count] { ++count; });
  unread.Add(kHog, 10);
  EXPECT_EQ(count, 0);
  unread.Add(kClient, 5);
  EXPECT_EQ(count, 1);
  unread.Add(kHog, -1);
  EXPECT_EQ(count, 1);
  unread.Unsubscribe(number);
  unread.Add(kClient, 5);
  EXPECT_EQ(count, 1);
}

TEST(UnreadResponsesTest, ReadingIsProgressOfItsConnectionAlone) {
  UnreadResponses unread(100);
  unread.Add(kHog, 10);
  unread.Add(kOtherOfHog, 10);
  const absl::Time before = absl::Now();
  unread.Add(kHog, -5);
  EXPECT_GE(unread.LastProgress(kHog), before);
  EXPECT_EQ(unread.LastProgress(kOtherOfHog), absl::InfinitePast());
  EXPECT_EQ(unread.LastProgress(kClient), absl::InfinitePast());
}

}  // namespace
}  // namespace semrank
