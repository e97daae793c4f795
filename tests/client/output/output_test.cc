#include "client/output/output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

#include "semrank/v1/model_service.pb.h"
#include "tests/support/status_matchers.h"

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

TEST(MessageJsonLineTest, UsesProtoFieldNames) {
  v1::Model model;
  model.set_name("shop\x1b");
  model.set_version(3);
  model.set_is_default(true);
  ASSERT_OK_AND_ASSIGN(const std::string line, MessageJsonLine(model));
  EXPECT_EQ(line,
            "{\"name\":\"shop\\u001b\",\"version\":\"3\","
            "\"is_default\":true}\n");
}

TEST(EnumWordTest, OmitsPrefixAndPrintsUnknownValuesAsNumbers) {
  EXPECT_EQ(EnumWord(v1::FEATURE_KIND_LETTERS_AND_WORDS), "letters_and_words");
  EXPECT_EQ(EnumWord(v1::SSI_VARIANT_UNSPECIFIED), "unspecified");
  EXPECT_EQ(EnumWord(static_cast<v1::TowerKind>(99)), "99");
}

}  // namespace
}  // namespace semrank
