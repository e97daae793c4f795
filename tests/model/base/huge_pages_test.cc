#include "model/base/huge_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace semrank {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

TEST(HugePageVectorTest, CopiesAndMovesAsAnyVector) {
  HugePageVector<int> values = {1, 2, 3};
  const HugePageVector<int> copy = values;
  values.push_back(4);
  const HugePageVector<int> moved = std::move(values);
  EXPECT_THAT(copy, ElementsAre(1, 2, 3));
  EXPECT_THAT(moved, ElementsAre(1, 2, 3, 4));
}

TEST(HugePageVectorTest, ElementsHaveTheirDefaults) {
  struct Slot {
    int number = 7;
  };
  EXPECT_THAT(HugePageVector<Slot>(1000),
              Each(::testing::Field(&Slot::number, 7)));
  // Elements without an initializer are zeros of pages that were never touched.
  EXPECT_THAT(HugePageVector<float>(1000), Each(0.0f));
}

}  // namespace
}  // namespace semrank
