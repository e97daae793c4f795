#include "client/output/output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

namespace semrank {
namespace {

TEST(ShortestTextTest, ReadsBackAsTheSameFloat) {
  EXPECT_EQ(ShortestText(0.1f), "0.1");
  EXPECT_EQ(ShortestText(1.0f / 3), "0.33333334");
  EXPECT_EQ(ShortestText(-0.0f), "-0");
  for (const float value : {0.1f, 1.0f / 3, 1e-40f, 3.4e38f}) {
    EXPECT_EQ(std::strtof(ShortestText(value).c_str(), nullptr), value);
  }
}

TEST(ToJsonLineTest, FloatsHaveNoMoreDigitsThanTheyNeed) {
  EXPECT_EQ(ToJsonLine({{"score", ShortestDouble(0.1f)}}), "{\"score\":0.1}\n");
  EXPECT_EQ(ToJsonLine({{"score", std::numeric_limits<double>::quiet_NaN()}}),
            "{\"score\":null}\n");
}

TEST(ToJsonLineTest, KeepsOrderAndEscapesTerminalControls) {
  EXPECT_EQ(ToJsonLine({{"b", "\x1b\x7f\u009b"}, {"a", "\u65e5\"\n"}}),
            "{\"b\":\"\\u001b\\u007f\\u009b\",\"a\":\"\u65e5\\\"\\n\"}\n");
}

TEST(ToJsonLineTest, BytesThatAreNotUtf8DoNotThrow) {
  EXPECT_EQ(ToJsonLine({{"a", "\xff"}}), "{\"a\":\"\uFFFD\"}\n");
}

}  // namespace
}  // namespace semrank
