#include "model/train/negative_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Queries are numbered from 100, titles from 0.
class NegativeSamplerTest : public ::testing::Test {
 protected:
  const MiniBatch& Sample(v1::NegativeSampling sampling, int negatives,
                          std::uint64_t index = 0) {
    NegativeSampler sampler(
        {.sampling = sampling, .negatives = negatives, .gamma = 1}, titles_);
    Random random(1, RandomPurpose::kNegatives, index);
    sampler.Sample(pairs_, random, batch_);
    return batch_;
  }

  // Titles that pair i is told apart from.
  std::vector<TextId> NegativesOf(int pair) const {
    std::vector<TextId> negatives;
    for (std::uint32_t k = batch_.candidates.offsets[pair] + 1;
         k < batch_.candidates.offsets[pair + 1]; ++k) {
      negatives.push_back(batch_.titles[batch_.candidates.indices[k]]);
    }
    return negatives;
  }

  std::vector<TextId> titles_ = {0, 1, 2, 3, 4, 5, 6, 7};
  std::vector<TextPair> pairs_ = {{100, 0}, {101, 1}, {102, 0},
                                  {103, 2}, {100, 3}, {104, 4}};
  MiniBatch batch_;
};

TEST_F(NegativeSamplerTest, UniformDrawsJTitlesNeverTheClicked) {
  for (int round = 0; round < 200; ++round) {
    Sample(v1::NEGATIVE_SAMPLING_UNIFORM, 4, round);
    for (int i = 0; i < batch_.num_pairs(); ++i) {
      ASSERT_EQ(NegativesOf(i).size(), 4u);
      for (const TextId title : NegativesOf(i)) {
        ASSERT_NE(title, pairs_[i].title);
      }
    }
  }
}

TEST_F(NegativeSamplerTest, UniformReachesEveryOtherTitle) {
  std::set<TextId> drawn;
  for (int round = 0; round < 50; ++round) {
    Sample(v1::NEGATIVE_SAMPLING_UNIFORM, 4, round);
    for (const TextId title : NegativesOf(0)) drawn.insert(title);
  }
  EXPECT_THAT(drawn, ElementsAre(1, 2, 3, 4, 5, 6, 7));
}

TEST_F(NegativeSamplerTest, UniformEmbedsADrawnTitleOnce) {
  Sample(v1::NEGATIVE_SAMPLING_UNIFORM, 50);
  std::set<TextId> drawn(batch_.titles.begin() + batch_.num_pairs(),
                         batch_.titles.end());
  EXPECT_EQ(drawn.size(), batch_.titles.size() - batch_.num_pairs());
  // 0 to 4 stand in the batch already.
  EXPECT_THAT(drawn, ElementsAre(5, 6, 7));
}

TEST_F(NegativeSamplerTest, UniformWorksWithTwoTitles) {
  titles_ = {0, 1};
  pairs_ = {{100, 0}, {101, 1}};
  Sample(v1::NEGATIVE_SAMPLING_UNIFORM, 3);
  EXPECT_THAT(NegativesOf(0), ElementsAre(1, 1, 1));
  EXPECT_THAT(NegativesOf(1), ElementsAre(0, 0, 0));
}

TEST_F(NegativeSamplerTest, RotationsLeaveOutEqualTitlesAndEqualQueries) {
  for (int round = 0; round < 100; ++round) {
    Sample(v1::NEGATIVE_SAMPLING_IN_BATCH, 4, round);
    EXPECT_EQ(batch_.titles.size(), pairs_.size());
    for (int i = 0; i < batch_.num_pairs(); ++i) {
      for (std::uint32_t k = batch_.candidates.offsets[i] + 1;
           k < batch_.candidates.offsets[i + 1]; ++k) {
        const TextPair& other = pairs_[batch_.candidates.indices[k]];
        ASSERT_NE(other.title, pairs_[i].title);
        ASSERT_NE(other.query, pairs_[i].query);
      }
    }
  }
}

TEST_F(NegativeSamplerTest, RotationsAreDistinct) {
  pairs_ = {{100, 0}, {101, 1}, {102, 2}, {103, 3}, {104, 4}};
  for (int round = 0; round < 100; ++round) {
    Sample(v1::NEGATIVE_SAMPLING_IN_BATCH, 3, round);
    for (int i = 0; i < batch_.num_pairs(); ++i) {
      const std::vector<TextId> negatives = NegativesOf(i);
      EXPECT_EQ(std::set<TextId>(negatives.begin(), negatives.end()).size(),
                3u);
    }
  }
}

TEST_F(NegativeSamplerTest, ZeroOrMoreThanTheBatchHasMeansAllTitles) {
  for (const int negatives : {0, 5, 100}) {
    EXPECT_TRUE(Sample(v1::NEGATIVE_SAMPLING_IN_BATCH, negatives).all_titles);
    EXPECT_THAT(batch_.candidates.indices, IsEmpty());
  }
  EXPECT_FALSE(Sample(v1::NEGATIVE_SAMPLING_IN_BATCH, 4).all_titles);
}

TEST_F(NegativeSamplerTest, SameRandomNumbersGiveTheSameBatch) {
  const MiniBatch first = Sample(v1::NEGATIVE_SAMPLING_UNIFORM, 4, 3);
  Sample(v1::NEGATIVE_SAMPLING_UNIFORM, 4, 4);
  EXPECT_NE(batch_.candidates.indices, first.candidates.indices);
  Sample(v1::NEGATIVE_SAMPLING_UNIFORM, 4, 3);
  EXPECT_EQ(batch_.titles, first.titles);
  EXPECT_EQ(batch_.candidates.indices, first.candidates.indices);
}

}  // namespace
}  // namespace semrank
