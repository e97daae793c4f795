#include "client/load/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "absl/synchronization/notification.h"
#include "client/load/load_report.h"
#include "model/base/interrupt.h"
#include "tests/client/lib/fake_server.h"
#include "tests/support/run_program.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(LatencyRecorderTest, PercentilesAreRoundedUpByLessThanOnePercent) {
  LatencyRecorder recorder;
  constexpr int kCount = 100'000;
  for (int i = kCount; i >= 1; --i) recorder.Record(absl::Microseconds(i));
  for (const double percent : {0.001, 1.0, 50.0, 90.0, 99.0, 99.9, 100.0}) {
    const double want = percent / 100 * kCount;
    const double got = absl::ToDoubleMicroseconds(recorder.Percentile(percent));
    EXPECT_GE(got, want - 1e-6) << percent;
    EXPECT_LE(got, want * 1.01) << percent;
  }
  EXPECT_EQ(recorder.count(), kCount);
  EXPECT_EQ(recorder.max(), absl::Milliseconds(100));
  EXPECT_EQ(recorder.Mean(), absl::Nanoseconds(50'000'500));
}

TEST(LatencyRecorderTest, HandlesNegativeAndVeryLongLatencies) {
  LatencyRecorder recorder;
  EXPECT_EQ(recorder.Percentile(99), absl::ZeroDuration());
  EXPECT_EQ(recorder.Mean(), absl::ZeroDuration());
  recorder.Record(absl::Nanoseconds(-5));
  EXPECT_EQ(recorder.Percentile(50), absl::ZeroDuration());
  recorder.Record(absl::Hours(24));
  EXPECT_EQ(recorder.Percentile(100), absl::Hours(24));
  EXPECT_EQ(recorder.Percentile(50), absl::ZeroDuration());
}

TEST(LoadRequestsTest, TitlesAreTakenInTurn) {
  LoadRequests requests({.titles = {"a", "b", "c"}, .num_titles = 2});
  EXPECT_THAT(requests.Next().titles(), ElementsAre("a", "b"));
  EXPECT_THAT(requests.Next().titles(), ElementsAre("c", "a"));
}

TEST(LoadRequestsTest, IdsAreTakenInTurnInPlaceOfTitles) {
  LoadRequests requests({.num_titles = 2, .num_ids = 3});
  EXPECT_THAT(requests.Next().ids(), ElementsAre(0, 1));
  EXPECT_THAT(requests.Next().ids(), ElementsAre(2, 0));
  EXPECT_TRUE(requests.Next().titles().empty());
}

TEST(LoadRequestsTest, NewTitlesNeverRepeatInThisRunOrAnother) {
  const LoadRequestOptions options{
      .titles = {"a", "b"}, .num_titles = 5, .new_titles = true};
  LoadRequests one(options), other(options);
  std::set<std::string> seen;
  for (int i = 0; i < 10; ++i) {
    for (LoadRequests* requests : {&one, &other}) {
      const v1::RankRequest& request = requests->Next();
      seen.insert(request.titles().begin(), request.titles().end());
    }
  }
  EXPECT_EQ(seen.size(), 100);
}

TEST(LoadRequestsTest, InflightCallsFitIntoAGibibyte) {
  LoadRequests small({.num_titles = 10}), large({.num_titles = 10'000});
  EXPECT_EQ(MaxInflight(small), 10'000);
  EXPECT_LT(MaxInflight(large), 2'000);
  EXPECT_GT(MaxInflight(large), 100);
}

TEST(LoadReportTest, GoodputAndRefusalsAreInTheJson) {
  LoadReport report{.duration = absl::Seconds(2), .num_in_time = 10};
  report.refusals.Record(absl::Milliseconds(3));
  report.lateness.Record(absl::Milliseconds(7));
  const auto json = LoadJson(report);
  EXPECT_EQ(json["in_time"], 10);
  EXPECT_EQ(json["goodput_per_second"], 5);
  EXPECT_EQ(json["refused"]["calls"], 1);
  EXPECT_EQ(json["refused"]["p99_ms"], 3);
  EXPECT_EQ(json["lateness_ms"]["max"], 7);
}

class LoadTest : public ::testing::Test {
 protected:
  LoadReport Run(const LoadOptions& options,
                 absl::Duration deadline = absl::Seconds(30)) {
    LoadRequests requests({.titles = {"image editor"}, .num_titles = 2});
    return RunLoad({.address = server_.address(), .deadline = deadline},
                   options, requests)
        .value();
  }

  FakeServer server_;
};

TEST_F(LoadTest, CallsStayInFlightForTheDuration) {
  const LoadReport report = Run({.inflight = 4,
                                 .duration = absl::Milliseconds(200),
                                 .warmup = absl::ZeroDuration(),
                                 .connections = 2});
  EXPECT_GT(report.latencies.count(), 0);
  EXPECT_EQ(report.num_in_time, report.latencies.count());
  EXPECT_LE(report.latencies.count(), server_.num_calls());
  EXPECT_TRUE(report.num_failed.empty());
  EXPECT_EQ(report.num_late, 0);
  EXPECT_EQ(server_.last_rank().titles_size(), 2);
}

TEST_F(LoadTest, OneStreamPerConnectionCarriesAllCalls) {
  const LoadReport report = Run({.inflight = 4,
                                 .duration = absl::Milliseconds(200),
                                 .warmup = absl::ZeroDuration(),
                                 .connections = 2,
                                 .stream = true});
  EXPECT_GT(report.latencies.count(), 0);
  EXPECT_TRUE(report.num_failed.empty());
  EXPECT_EQ(server_.num_calls(), 2);
  EXPECT_EQ(server_.last_rank().titles_size(), 2);
}

TEST_F(LoadTest, BrokenStreamFailsItsCallsAndIsReplaced) {
  server_.RejectNext(2, "1");
  const LoadReport report = Run({.inflight = 4,
                                 .duration = absl::Milliseconds(200),
                                 .warmup = absl::ZeroDuration(),
                                 .stream = true});
  EXPECT_EQ(server_.num_calls(), 3);
  EXPECT_GT(report.latencies.count(), 2);
  EXPECT_EQ(report.num_failed.size(), 1u);
  EXPECT_THAT(report.first_failure,
              StatusIs(absl::StatusCode::kResourceExhausted));
}

// Were each call sent only when another is answered, the server would wait for
// the second without end.
TEST_F(LoadTest, ARateDoesNotWaitForAnswers) {
  absl::Notification second_came;
  std::atomic<int> num_calls = 0;
  server_.OnRank([&](const v1::RankRequest& request, v1::RankResponse* out) {
    if (++num_calls == 2) second_came.Notify();
    second_came.WaitForNotification();
    return RankInOrder(request, out);
  });
  const LoadReport report = Run({.rate = 50,
                                 .inflight = 100,
                                 .duration = absl::Seconds(1),
                                 .warmup = absl::ZeroDuration()});
  EXPECT_EQ(report.latencies.count() + report.num_unsent, 50);
}

TEST_F(LoadTest, UnreachableRateIsReportedAsLateAndUnsent) {
  const LoadReport report = Run({.rate = 1e6,
                                 .inflight = 1,
                                 .duration = absl::Milliseconds(100),
                                 .warmup = absl::ZeroDuration()});
  EXPECT_GT(report.num_late, 0);
  EXPECT_NEAR(report.latencies.count() + report.num_unsent, 100'000, 1);
}

TEST_F(LoadTest, FailuresAreCountedByCodeAndNotRetried) {
  server_.RejectNext(3, "1");
  const LoadReport report = Run({.rate = 100,
                                 .inflight = 100,
                                 .duration = absl::Milliseconds(100),
                                 .warmup = absl::ZeroDuration()});
  EXPECT_THAT(report.num_failed,
              ElementsAre(Pair(absl::StatusCode::kResourceExhausted, 3)));
  EXPECT_THAT(report.first_failure,
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(report.latencies.count() + report.num_unsent, 7);
  EXPECT_EQ(LoadJson(report)["failed"]["RESOURCE_EXHAUSTED"], 3);
  EXPECT_EQ(report.refusals.count(), 3);
}

TEST_F(LoadTest, AClosedLoopCountsCallsThatAreNeverAnswered) {
  // The handlers may return after the test.
  const auto end = std::make_shared<absl::Notification>();
  server_.OnRank([end](const v1::RankRequest& request, v1::RankResponse* out) {
    end->WaitForNotification();
    return RankInOrder(request, out);
  });
  const LoadReport report = Run({.inflight = 2,
                                 .duration = absl::Milliseconds(100),
                                 .warmup = absl::ZeroDuration()},
                                absl::Milliseconds(300));
  end->Notify();
  EXPECT_EQ(report.latencies.count(), 0);
  EXPECT_THAT(report.num_failed,
              ElementsAre(Pair(absl::StatusCode::kDeadlineExceeded, 2)));
}

struct InterruptedLoadCase {
  std::string name;
  double rate;
  bool stream;
};

class InterruptedLoadTest
    : public LoadTest,
      public ::testing::WithParamInterface<InterruptedLoadCase> {
 protected:
  ~InterruptedLoadTest() override { CatchInterrupts(); }
};

TEST_P(InterruptedLoadTest, ASignalEndsTheRunWithoutWaitingForResponses) {
  // The handler may return after the test.
  const auto end = std::make_shared<absl::Notification>();
  server_.OnRank([end](const v1::RankRequest& request, v1::RankResponse* out) {
    Interrupt();
    end->WaitForNotification();
    return RankInOrder(request, out);
  });
  const LoadReport report = Run({.rate = GetParam().rate,
                                 .inflight = 1,
                                 .duration = absl::Hours(1),
                                 .warmup = absl::ZeroDuration(),
                                 .stream = GetParam().stream});
  end->Notify();
  EXPECT_EQ(report.latencies.count(), 0);
  EXPECT_TRUE(report.num_failed.empty());
  EXPECT_LT(report.duration, absl::Seconds(30));
  // Not the 3,600 of the hour.
  EXPECT_LT(report.num_unsent, 100);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, InterruptedLoadTest,
    ::testing::Values(InterruptedLoadCase{"Rate", 1, false},
                      InterruptedLoadCase{"RateStream", 1, true},
                      InterruptedLoadCase{"ClosedLoop", 0, false},
                      InterruptedLoadCase{"ClosedLoopStream", 0, true}),
    [](const auto& test) { return test.param.name; });

TEST_F(LoadTest, ProgramPrintsItsMeasurements) {
  const auto run = RunProgram(
      {SEMRANK_BINARY_DIR "/semrank", "load", "--address=" + server_.address(),
       "--inflight=2", "--duration=100ms", "--warmup=0s", "--output=json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto report = nlohmann::json::parse(run.out);
  EXPECT_GT(report["calls"], 0);
  EXPECT_LE(report["latency_ms"]["p50"], report["latency_ms"]["p99.9"]);
  EXPECT_EQ(report["failed"].size(), 0);
}

TEST_F(LoadTest, ProgramFailsIfNoCallSucceeded) {
  server_.RejectNext(1'000'000, "1");
  const auto run = RunProgram({SEMRANK_BINARY_DIR "/semrank", "load",
                               "--address=" + server_.address(), "--rate=100",
                               "--duration=50ms", "--warmup=0s"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.out, HasSubstr("failed with RESOURCE_EXHAUSTED"));
  EXPECT_THAT(run.err, HasSubstr("too many texts in flight"));
}

struct LoadFlagsCase {
  std::string name;
  std::vector<std::string> flags;
  std::string error;
};

class LoadFlagsTest : public ::testing::TestWithParam<LoadFlagsCase> {};

TEST_P(LoadFlagsTest, AreWrongUse) {
  std::vector<std::string> command = {SEMRANK_BINARY_DIR "/semrank", "load"};
  command.insert(command.end(), GetParam().flags.begin(),
                 GetParam().flags.end());
  const auto run = RunProgram(command);
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr(GetParam().error));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, LoadFlagsTest,
    ::testing::Values(
        LoadFlagsCase{"NoLoad", {}, "--rate or --inflight is required"},
        LoadFlagsCase{"TooManyInFlight",
                      {"--inflight=1000000"},
                      "--inflight=1000000: must be 0 to 10000"},
        LoadFlagsCase{"TooMuchInFlight",
                      {"--inflight=10000", "--num_titles=10000"},
                      "more than 1 GiB of memory; the limit is "},
        LoadFlagsCase{"TooManyConnections",
                      {"--inflight=1", "--connections=1000000"},
                      "--connections=1000000: must be 1 to 1000"},
        LoadFlagsCase{"RateNotANumber", {"--rate=nan"}, "--rate=nan: must be "},
        LoadFlagsCase{"NoDuration",
                      {"--rate=1", "--duration=0s"},
                      "--duration=0s: must be above 0"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace semrank
