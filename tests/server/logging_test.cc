#include "server/logging.h"

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

}  // namespace
}  // namespace semrank
