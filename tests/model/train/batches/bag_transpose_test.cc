#include "model/train/batches/bag_transpose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

BagBatch Bags() {
  BagBatch bags;
  bags.offsets = {0, 2, 2, 5};
  bags.indices = {7, 3, 1, 3, 9};
  bags.counts = {1, 2, 1, 4, 5};
  return bags;
}

TEST(BagTransposeTest, ListsTheTextsOfEachFeature) {
  BagTranspose transpose;
  transpose.Build(Bags(), 10);
  EXPECT_THAT(transpose.features(), ElementsAre(7, 3, 1, 9));
  EXPECT_THAT(transpose.texts().offsets, ElementsAre(0, 1, 3, 4, 5));
  EXPECT_THAT(transpose.texts().indices, ElementsAre(0, 0, 2, 2, 2));
  EXPECT_THAT(transpose.texts().counts, ElementsAre(1, 2, 4, 1, 5));
}

TEST(BagTransposeTest, ForgetsTheBatchBefore) {
  BagTranspose used, fresh;
  BagBatch other;
  other.offsets = {0, 1, 2};
  other.indices = {9, 0};
  other.counts = {3, 3};
  used.Build(Bags(), 10);
  used.Build(other, 20);
  used.Build(Bags(), 10);
  fresh.Build(Bags(), 10);
  EXPECT_EQ(used.features(), fresh.features());
  EXPECT_EQ(used.texts().indices, fresh.texts().indices);
  EXPECT_EQ(used.texts().counts, fresh.texts().counts);
}

TEST(TransposeBagsTest, HasABagForEachFeatureInOrder) {
  BagBatch by_feature;
  for (int round = 0; round < 2; ++round) {
    TransposeBags(Bags(), 10, by_feature);
    EXPECT_THAT(by_feature.offsets,
                ElementsAre(0, 0, 1, 1, 3, 3, 3, 3, 4, 4, 5));
    EXPECT_THAT(by_feature.indices, ElementsAre(2, 0, 2, 0, 2));
    EXPECT_THAT(by_feature.counts, ElementsAre(1, 2, 4, 1, 5));
  }
}

TEST(BagTransposeTest, EmptyBatch) {
  BagTranspose transpose;
  transpose.Build(BagBatch(), 10);
  EXPECT_THAT(transpose.features(), IsEmpty());
  EXPECT_EQ(transpose.texts().num_texts(), 0);
}

}  // namespace
}  // namespace semrank
