#include "server/base/logging.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace semrank {
namespace {

// What `log` writes to standard error.
template <typename Log>
std::string Logged(Log log) {
  ::testing::internal::CaptureStderr();
  log();
  return ::testing::internal::GetCapturedStderr();
}

std::string LoggedAsJson(const std::string& message) {
  InitLogging(/*json=*/true);
  return Logged([&] { Log(LogLevel::kWarning, message); });
}

TEST(LoggingTest, AMessageStaysInsideItsJsonString) {
  for (const std::string message :
       {"plain", "\"},{\"level\":\"info", "two\nlines", "bell \x07 \\"}) {
    const std::string line = LoggedAsJson(message);
    EXPECT_EQ(std::ranges::count(line, '\n'), 1);
    const nlohmann::json parsed = nlohmann::json::parse(line);
    EXPECT_EQ(parsed["message"], message);
    EXPECT_EQ(parsed["level"], "warning");
    EXPECT_THAT(parsed["time"].get<std::string>(),
                ::testing::ContainsRegex("^[0-9-]+T[0-9:.]+"));
  }
}

TEST(LoggingTest, BytesThatAreNoUtf8AreReplaced) {
  EXPECT_EQ(nlohmann::json::parse(LoggedAsJson("a\xff"))["message"],
            "a\xef\xbf\xbd");
}

TEST(LoggingTest, BracesInAMessageAreText) {
  InitLogging(/*json=*/false);
  EXPECT_THAT(Logged([] { LogInfo("%s of %d", "{}", 3); }),
              ::testing::EndsWith("info {} of 3\n"));
}

TEST(LoggingTest, AThrottleSaysHowManyLinesItDropped) {
  InitLogging(/*json=*/false);
  LogThrottle throttle(/*max_lines_per_second=*/1);
  const absl::Time long_ago = absl::Now() - absl::Hours(1);
  std::int64_t num_dropped = 0;
  for (int i = 0; i < 3; ++i) throttle.Allow(long_ago, num_dropped);
  EXPECT_THAT(
      Logged([&] { Log(LogLevel::kWarning, "again", throttle); }),
      ::testing::AllOf(::testing::HasSubstr("warning again\n"),
                       ::testing::HasSubstr("2 such lines were dropped")));
}

TEST(LoggingTest, ALineThatNobodyReadsIsDroppedAndCounted) {
  InitLogging(/*json=*/false);
  signal(SIGPIPE, SIG_IGN);
  const std::int64_t num_before = NumDroppedLogLines();
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const int standard_error = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  close(ends[1]);
  close(ends[0]);
  LogInfo("one");
  LogInfo("two");
  dup2(standard_error, STDERR_FILENO);
  close(standard_error);
  EXPECT_EQ(NumDroppedLogLines() - num_before, 2);
  EXPECT_THAT(Logged([] { LogInfo("three"); }),
              ::testing::EndsWith("info three\n"));
}

TEST(LoggingTest, AReaderThatDoesNotReadBlocksNoLine) {
  InitLogging(/*json=*/false);
  const std::int64_t num_before = NumDroppedLogLines();
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const int standard_error = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  close(ends[1]);
  // More than a pipe holds, the last line in several pieces.
  for (int i = 0; i < 200; ++i) LogInfo("%s", std::string(1'000, 'x'));
  LogInfo("%s", std::string(10'000, 'y'));
  EXPECT_GT(NumDroppedLogLines(), num_before);
  std::string bytes(100'000, '\0');
  EXPECT_GT(read(ends[0], bytes.data(), bytes.size()), 0);
  LogInfo("read again");
  bytes.resize(read(ends[0], bytes.data(), bytes.size()));
  dup2(standard_error, STDERR_FILENO);
  close(standard_error);
  close(ends[0]);
  EXPECT_THAT(bytes, ::testing::EndsWith("info read again\n"));
}

TEST(LoggingTest, ARequestNamesItsModelTextsAndCaller) {
  const RequestLog::Outcome request = {
      .method = "S/Rank", .identity = {"id-1", ""}, .details = [] {
        return RequestLog::Details{.key = "1a2b3c4d",
                                   .peer = "ipv4:10.0.0.7:40312",
                                   .model = "shop/3",
                                   .num_texts = 11};
      }};
  InitLogging(/*json=*/false);
  using Reason = RequestLog::Reason;
  EXPECT_THAT(Logged([&] { LogRequest(Reason::kAccess, request, 0); }),
              ::testing::EndsWith("request_id=id-1 model=shop/3 key=1a2b3c4d "
                                  "peer=ipv4:10.0.0.7:40312 texts=11\n"));
  EXPECT_THAT(
      Logged([&] { LogRequest(Reason::kAdmin, request, 0); }),
      ::testing::EndsWith("actor=key 1a2b3c4d at ipv4:10.0.0.7:40312\n"));
}

TEST(LoggingTest, ARequestHasItsValuesAsFields) {
  const RequestLog::Outcome slow = {.method = "S/RankStream",
                                    .identity = {"id-1", "00-trace"},
                                    .number = 7,
                                    .time = absl::Microseconds(12'345)};
  const RequestLog::Outcome bug = {
      .method = "POST /v1/rank",
      .identity = {"id-2", "00-trace"},
      .status = absl::InternalError("one\ntwo error=three")};
  using Reason = RequestLog::Reason;
  const auto logged = [](Reason reason, const RequestLog::Outcome& what,
                         std::int64_t num_dropped) {
    return Logged([&] { LogRequest(reason, what, num_dropped); });
  };
  InitLogging(/*json=*/false);
  EXPECT_THAT(logged(Reason::kSlow, slow, 0),
              ::testing::EndsWith(
                  "warning slow request method=S/RankStream code=OK "
                  "milliseconds=12.345 request_id=id-1 traceparent=00-trace "
                  "request_number=7\n"));
  EXPECT_THAT(logged(Reason::kBug, bug, 0),
              ::testing::EndsWith("error bug method=POST /v1/rank "
                                  "code=INTERNAL request_id=id-2 "
                                  "traceparent=00-trace "
                                  "error=one two error=three\n"));
  InitLogging(/*json=*/true);
  const auto line = nlohmann::json::parse(logged(Reason::kSlow, slow, 3));
  EXPECT_EQ(line["level"], "warning");
  EXPECT_EQ(line["message"], "slow request");
  EXPECT_EQ(line["method"], "S/RankStream");
  EXPECT_EQ(line["code"], "OK");
  EXPECT_EQ(line["milliseconds"], 12.345);
  EXPECT_EQ(line["request_id"], "id-1");
  EXPECT_EQ(line["traceparent"], "00-trace");
  EXPECT_EQ(line["request_number"], 7);
  EXPECT_EQ(line["dropped"], 3);
  const auto failed = nlohmann::json::parse(logged(Reason::kBug, bug, 0));
  EXPECT_EQ(failed["level"], "error");
  EXPECT_EQ(failed["message"], "bug");
  EXPECT_EQ(failed["request_id"], "id-2");
  EXPECT_EQ(failed["error"], "one two error=three");
}

}  // namespace
}  // namespace semrank
