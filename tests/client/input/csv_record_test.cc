#include "client/input/csv_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;

TEST(CsvRecordTest, FieldsMayBeQuoted) {
  const auto fields = [](std::string_view line) {
    CsvRecord record;
    EXPECT_TRUE(record.AddLine(line).value());
    return record.fields();
  };
  EXPECT_THAT(fields(""), ElementsAre(""));
  EXPECT_THAT(fields("a,,b"), ElementsAre("a", "", "b"));
  EXPECT_THAT(fields("\"\",\"x,\"\"y\"\"z\","),
              ElementsAre("", "x,\"y\"z", ""));
}

TEST(CsvRecordTest, AQuotedFieldMayHaveSeveralLines) {
  CsvRecord record;
  EXPECT_FALSE(record.AddLine("a,\"b").value());
  EXPECT_FALSE(record.AddLine("").value());
  EXPECT_FALSE(record.AddLine("c\",\"d").value());
  EXPECT_EQ(record.quote_line(), 2);
  EXPECT_TRUE(record.AddLine("\"").value());
  EXPECT_THAT(record.fields(), ElementsAre("a", "b\n\nc", "d\n"));
  EXPECT_EQ(record.num_lines(), 4);
}

TEST(CsvRecordTest, MisplacedQuotesAreErrors) {
  const auto error = [](std::string_view line) {
    CsvRecord record;
    return std::string(record.AddLine(line).status().message());
  };
  EXPECT_EQ(error("\"a\"b"), "text after a closing quote");
  EXPECT_EQ(error("a\"b\""), "a quote in an unquoted field");
}

}  // namespace
}  // namespace semrank
