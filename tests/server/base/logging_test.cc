#include "server/base/logging.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/details/log_msg.h>

#include <nlohmann/json.hpp>
#include <string>

namespace semrank {
namespace {

std::string Format(const std::string& message) {
  spdlog::memory_buf_t out;
  MakeJsonLogFormatter()->format(
      spdlog::details::log_msg("semrank", spdlog::level::warn, message), out);
  return std::string(out.data(), out.size());
}

TEST(LoggingTest, AMessageStaysInsideItsJsonString) {
  for (const std::string message :
       {"plain", "\"},{\"level\":\"info", "two\nlines", "bell \x07 \\"}) {
    const std::string line = Format(message);
    EXPECT_EQ(std::ranges::count(line, '\n'), 1);
    const nlohmann::json parsed = nlohmann::json::parse(line);
    EXPECT_EQ(parsed["message"], message);
    EXPECT_EQ(parsed["level"], "warning");
    EXPECT_THAT(parsed["time"].get<std::string>(),
                ::testing::ContainsRegex("^[0-9-]+T[0-9:.]+"));
  }
}

TEST(LoggingTest, BytesThatAreNoUtf8AreReplaced) {
  EXPECT_EQ(nlohmann::json::parse(Format("a\xff"))["message"], "a\xef\xbf\xbd");
}

// In one test: the log of the process is made once, JSON after text.
TEST(LoggingTest, ARequestHasItsValuesAsFields) {
  const RequestLog::Outcome slow = {.method = "S/RankStream",
                                    .identity = {"id-1", "00-trace"},
                                    .number = 7,
                                    .time = absl::Microseconds(12'345)};
  const RequestLog::Outcome bug = {
      .method = "POST /v1/rank",
      .identity = {"id-2", "00-trace"},
      .status = absl::InternalError("one\ntwo error=three")};
  const auto logged = [](auto log, const RequestLog::Outcome& what,
                         std::int64_t num_dropped) {
    ::testing::internal::CaptureStderr();
    log(what, num_dropped);
    return ::testing::internal::GetCapturedStderr();
  };
  InitLogging(/*json=*/false);
  EXPECT_THAT(logged(LogSlowRequest, slow, 0),
              ::testing::EndsWith(
                  "warning slow request method=S/RankStream code=OK "
                  "milliseconds=12.345 request_id=id-1 traceparent=00-trace "
                  "request_number=7\n"));
  EXPECT_THAT(logged(LogBug, bug, 0),
              ::testing::EndsWith("error bug method=POST /v1/rank "
                                  "code=INTERNAL request_id=id-2 "
                                  "traceparent=00-trace "
                                  "error=one two error=three\n"));
  InitLogging(/*json=*/true);
  const auto line = nlohmann::json::parse(logged(LogSlowRequest, slow, 3));
  EXPECT_EQ(line["level"], "warning");
  EXPECT_EQ(line["message"], "slow request");
  EXPECT_EQ(line["method"], "S/RankStream");
  EXPECT_EQ(line["code"], "OK");
  EXPECT_EQ(line["milliseconds"], 12.345);
  EXPECT_EQ(line["request_id"], "id-1");
  EXPECT_EQ(line["traceparent"], "00-trace");
  EXPECT_EQ(line["request_number"], 7);
  EXPECT_EQ(line["dropped"], 3);
  const auto failed = nlohmann::json::parse(logged(LogBug, bug, 0));
  EXPECT_EQ(failed["level"], "error");
  EXPECT_EQ(failed["message"], "bug");
  EXPECT_EQ(failed["request_id"], "id-2");
  EXPECT_EQ(failed["error"], "one two error=three");
}

}  // namespace
}  // namespace semrank
