#include "model/train/batches/batch_share.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace semrank {
namespace {

using ::testing::ElementsAre;

MiniBatch Batch() {
  MiniBatch batch;
  batch.queries = {10, 11, 12};
  batch.titles = {20, 21, 22, 23, 24};  // the last two were drawn
  return batch;
}

PlacedTexts Texts(const MiniBatch& batch, int process, int num_processes) {
  PlacedTexts texts;
  const BatchShare share = ShareOf(batch, process, num_processes);
  texts.AppendQueries(batch, share);
  texts.AppendTitles(batch, share);
  return texts;
}

TEST(BatchShareTest, OneProcessHasEverything) {
  const PlacedTexts texts = Texts(Batch(), 0, 1);
  EXPECT_THAT(texts.ids, ElementsAre(10, 11, 12, 20, 21, 22, 23, 24));
  EXPECT_THAT(texts.places, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(BatchShareTest, TwoProcessesHaveRunsOfPairsAndOfDrawnTitles) {
  EXPECT_THAT(Texts(Batch(), 0, 2).ids, ElementsAre(10, 20, 23));
  EXPECT_THAT(Texts(Batch(), 0, 2).places, ElementsAre(0, 3, 6));
  EXPECT_THAT(Texts(Batch(), 1, 2).ids, ElementsAre(11, 12, 21, 22, 24));
  EXPECT_THAT(Texts(Batch(), 1, 2).places, ElementsAre(1, 2, 4, 5, 7));
}

TEST(BatchShareTest, MoreProcessesThanPairsLeaveSomeWithNone) {
  int num_texts = 0;
  for (int process = 0; process < 7; ++process) {
    num_texts += static_cast<int>(Texts(Batch(), process, 7).ids.size());
  }
  EXPECT_EQ(num_texts, 8);
}

}  // namespace
}  // namespace semrank
