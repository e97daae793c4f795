#include "server/base/request_identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/base/request_log.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::MatchesRegex;
using ::testing::SizeIs;

constexpr char kTrace[] =
    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

TEST(RequestIdentityTest, TakesWhatTheCallerGives) {
  const RequestIdentity identity = MakeRequestIdentity("order-7/a", kTrace);
  EXPECT_EQ(identity.request_id, "order-7/a");
  EXPECT_EQ(identity.traceparent, kTrace);
}

TEST(RequestIdentityTest, MakesAnotherIdForEachRequestWithoutOne) {
  const RequestIdentity one = MakeRequestIdentity("", "");
  EXPECT_THAT(one.request_id, MatchesRegex("[0-9a-f]{32}"));
  EXPECT_EQ(one.traceparent, "");
  EXPECT_NE(MakeRequestIdentity("", "").request_id, one.request_id);
}

TEST(RequestIdentityTest, WhatCouldForgeALogLineIsNotTaken) {
  for (const std::string& bad :
       {std::string("two words"), std::string("a\nb"), std::string("\xc3\xa4"),
        std::string(129, 'a')}) {
    EXPECT_THAT(MakeRequestIdentity(bad, "").request_id, SizeIs(32));
  }
}

TEST(RequestIdentityTest, MalformedTracesAreDropped) {
  const std::string good = kTrace;
  for (const std::string& bad :
       {good.substr(1), good + "-x", "ff" + good.substr(2),
        "00-" + std::string(32, '0') + good.substr(35),
        good.substr(0, 36) + std::string(16, '0') + "-01",
        good.substr(0, 3) + "0AF7651916CD43DD8448EB211C80319C" +
            good.substr(35)}) {
    EXPECT_EQ(MakeRequestIdentity("", bad).traceparent, "") << bad;
  }
  const std::string later = "01" + good.substr(2) + "-more";
  EXPECT_EQ(MakeRequestIdentity("", later).traceparent, later);
}

using Reason = RequestLog::Reason;

TEST(RequestLogTest, OnlySlowRequestsAreReportedAndOnlyWithAThreshold) {
  std::vector<absl::Duration> reported;
  const auto report = [&](Reason reason, const RequestLog::Outcome& slow,
                          std::int64_t dropped) {
    EXPECT_EQ(reason, Reason::kSlow);
    reported.push_back(slow.time);
    EXPECT_EQ(dropped, 0);
  };
  RequestLog log({.slow_threshold = absl::Seconds(1)}, report);
  log.Record({.method = "S/Rank", .time = absl::Milliseconds(999)});
  log.Record({.method = "S/Rank", .time = absl::Seconds(2)});
  EXPECT_THAT(reported, ElementsAre(absl::Seconds(2)));
  RequestLog({}, report).Record({.time = absl::Hours(1)});
  EXPECT_THAT(reported, SizeIs(1));
}

TEST(RequestLogTest, OnlyBugsAreReportedAsBugsAtMostTenASecond) {
  std::vector<std::string> reported;
  RequestLog log({}, [&](Reason reason, const auto& failed, auto) {
    EXPECT_EQ(reason, Reason::kBug);
    reported.push_back(failed.identity.request_id);
  });
  log.Record({.identity = {"fine"}});
  log.Record({.identity = {"bad"}, .status = absl::InvalidArgumentError("x")});
  log.Record({.identity = {"bug"}, .status = absl::InternalError("x")});
  EXPECT_THAT(reported, ElementsAre("bug"));
  for (int i = 0; i < 100; ++i) log.Record({.status = absl::InternalError("")});
  EXPECT_LE(reported.size(), 2 * RequestLog::kMaxLinesPerSecond);
}

TEST(RequestLogTest, TheAccessLogHasTheShareThatWasAskedFor) {
  const auto logged = [](double share) {
    int num_lines = 0;
    RequestLog log({.access_share = share}, [&](auto&&...) { ++num_lines; });
    for (int i = 0; i < 500; ++i) {
      log.Record({.identity = MakeRequestIdentity("", "")});
    }
    return num_lines;
  };
  EXPECT_EQ(logged(0), 0);
  EXPECT_EQ(logged(1), 500);
  // Binomial: 50 with a standard deviation of 6.7.
  EXPECT_NEAR(logged(0.1), 50, 40);
}

TEST(RequestLogTest, ACallOfAnAdministratorIsLogged) {
  std::vector<std::string> keys;
  RequestLog log({}, [&](Reason reason, const auto& call, auto) {
    EXPECT_EQ(reason, Reason::kAdmin);
    keys.push_back(call.details().key);
  });
  log.Record({.method = "S/Rank"});
  log.Record({.method = "S/ReloadModel", .by_admin = true, .details = [] {
                return RequestLog::Details{.key = "1a2b3c4d"};
              }});
  EXPECT_THAT(keys, ElementsAre("1a2b3c4d"));
}

TEST(RequestLogTest, AdminCallsThatFailAreLoggedAtMostTenASecond) {
  int num_lines = 0;
  RequestLog log({}, [&](auto&&...) { ++num_lines; });
  for (int i = 0; i < 1'000; ++i) {
    log.Record({.status = absl::UnauthenticatedError("x"), .by_admin = true});
  }
  EXPECT_GT(num_lines, 0);
  EXPECT_LE(num_lines, 2 * RequestLog::kMaxLinesPerSecond);
  num_lines = 0;
  for (int i = 0; i < 1'000; ++i) log.Record({.by_admin = true});
  EXPECT_EQ(num_lines, 1'000);
}

TEST(RequestLogTest, TheLastFailuresAreKeptNewestFirst) {
  RequestLog log({});
  for (int i = 0; i < 30; ++i) {
    log.Record({.method = "S/Rank",
                .identity = {std::to_string(i)},
                .status = absl::DataLossError("x")});
    log.Record({.method = "S/Rank", .identity = {"fine"}});
  }
  ASSERT_THAT(log.failures(), SizeIs(RequestLog::kMaxFailures));
  EXPECT_EQ(log.failures().front().request_id, "29");
}

}  // namespace
}  // namespace semrank
