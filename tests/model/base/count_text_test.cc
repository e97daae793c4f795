#include "model/base/count_text.h"

#include <gtest/gtest.h>

namespace semrank {
namespace {

TEST(GroupDigitsTest, DigitsAreGroupedByThree) {
  EXPECT_EQ(GroupDigits(0), "0");
  EXPECT_EQ(GroupDigits(999), "999");
  EXPECT_EQ(GroupDigits(1000), "1,000");
  EXPECT_EQ(GroupDigits(-1234567), "-1,234,567");
}

TEST(CountTextTest, HasSeparatorsAndThePlural) {
  EXPECT_EQ(CountText(0, "document"), "0 documents");
  EXPECT_EQ(CountText(1, "query", "queries"), "1 query");
  EXPECT_EQ(CountText(2'501, "query", "queries"), "2,501 queries");
}

}  // namespace
}  // namespace semrank
