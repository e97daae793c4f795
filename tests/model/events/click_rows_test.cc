#include "model/events/click_rows.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace semrank {
namespace {

TEST(ClickRowsTest, SumsEndAtTheHighestNumber) {
  ClickRows rows;
  for (int i = 0; i < 2; ++i) {
    rows.Add(/*query=*/1, /*title=*/2, /*position=*/3, 1u << 31, 1u << 31);
  }
  const std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
  EXPECT_EQ(rows.Sorted(), (std::vector<ClickRow>{{1, 2, 3, most, most}}));
}

}  // namespace
}  // namespace semrank
