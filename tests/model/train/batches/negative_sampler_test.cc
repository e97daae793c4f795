#include "model/train/batches/negative_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>

namespace semrank {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

// Queries are numbered from 100, titles from 0.
class NegativeSamplerTest : public ::testing::Test {
 protected:
  const MiniBatch& Sample(v1::NegativeSampling sampling, int negatives,
                          std::uint64_t index = 0) {
    NegativeSampler sampler({.sampling = sampling,
                             .negatives = negatives,
                             .hard_negatives = hard_negatives_,
                             .gamma = 1},
                            titles_, &shown_, clicked_);
    Random random(1, RandomPurpose::kNegatives, index);
    sampler.Sample(pairs_, random, batch_);
    return batch_;
  }

  // The negatives of pair i.
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
  // For query 100 title 0 did best, and 3 better than 20 and 21.
  ShownTitles shown_{
      {{100, 0, 9, 0}, {100, 3, 2, 0}, {100, 20, 0, 0}, {100, 21, 1, 0}},
      {},
      200};
  const ClickedTitles* clicked_ = nullptr;
  int hard_negatives_ = 0;
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

TEST_F(NegativeSamplerTest, UniformLeavesOutWhatElseWasClickedForTheQuery) {
  // Titles 0 and 3 were clicked for query 100.
  const ClickedTitles clicked(pairs_);
  clicked_ = &clicked;
  std::set<TextId> of_100, of_104;
  for (int round = 0; round < 200; ++round) {
    Sample(v1::NEGATIVE_SAMPLING_UNIFORM, 4, round);
    for (const TextId title : NegativesOf(0)) of_100.insert(title);
    for (const TextId title : NegativesOf(5)) of_104.insert(title);
  }
  EXPECT_THAT(of_100, UnorderedElementsAre(1, 2, 4, 5, 6, 7));
  EXPECT_THAT(of_104, UnorderedElementsAre(0, 1, 2, 3, 5, 6, 7));
}

TEST_F(NegativeSamplerTest, UniformDrawsNothingWhereAllTitlesWereClicked) {
  std::vector<TextPair> all = pairs_;
  for (const TextId title : titles_) all.push_back({100, title});
  const ClickedTitles clicked(all);
  clicked_ = &clicked;
  Sample(v1::NEGATIVE_SAMPLING_UNIFORM, 4);
  EXPECT_THAT(NegativesOf(0), IsEmpty());
  EXPECT_THAT(NegativesOf(5), SizeIs(4));
}

TEST_F(NegativeSamplerTest, UniformReachesEveryOtherTitle) {
  std::set<TextId> drawn;
  for (int round = 0; round < 50; ++round) {
    Sample(v1::NEGATIVE_SAMPLING_UNIFORM, 4, round);
    for (const TextId title : NegativesOf(5)) drawn.insert(title);
  }
  EXPECT_THAT(drawn, ElementsAre(0, 1, 2, 3, 5, 6, 7));
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

TEST_F(NegativeSamplerTest, RotationsLeaveOutWhatWasClickedForTheQuery) {
  // Query 100 clicked titles 0 and 3 in the batch, and 2 in another one.
  std::vector<TextPair> log = pairs_;
  log.push_back({100, 2});
  const ClickedTitles clicked(log);
  clicked_ = &clicked;
  std::set<TextId> of_100, of_104;
  for (int round = 0; round < 100; ++round) {
    Sample(v1::NEGATIVE_SAMPLING_IN_BATCH, 4, round);
    EXPECT_EQ(batch_.titles.size(), pairs_.size());
    for (const int pair : {0, 4}) {
      for (const TextId title : NegativesOf(pair)) of_100.insert(title);
    }
    for (const TextId title : NegativesOf(5)) of_104.insert(title);
  }
  EXPECT_THAT(of_100, ElementsAre(1, 4));
  EXPECT_THAT(of_104, ElementsAre(0, 1, 2, 3));
}

TEST_F(NegativeSamplerTest, MasksEachPositionOfWhatWasClickedForTheQuery) {
  std::vector<TextPair> log = pairs_;
  log.push_back({104, 0});
  log.push_back({104, 7});
  log.push_back({104, 0});
  const ClickedTitles clicked(log);
  clicked_ = &clicked;
  Sample(v1::NEGATIVE_SAMPLING_IN_BATCH, 0);
  ASSERT_EQ(batch_.masked.num_texts(), batch_.num_pairs());
  EXPECT_THAT(batch_.MaskedFor(0), ElementsAre(0, 2, 4));
  EXPECT_THAT(batch_.MaskedFor(1), ElementsAre(1));
  EXPECT_THAT(batch_.MaskedFor(2), ElementsAre(0, 2));
  EXPECT_THAT(batch_.MaskedFor(3), ElementsAre(3));
  EXPECT_THAT(batch_.MaskedFor(4), ElementsAre(0, 2, 4));
  EXPECT_THAT(batch_.MaskedFor(5), ElementsAre(0, 2, 5));
}

TEST_F(NegativeSamplerTest, MasksAQueryWithMoreTitlesThanTheBatchHas) {
  std::vector<TextPair> log = pairs_;
  for (TextId title = 1; title < 50; ++title) log.push_back({102, title});
  const ClickedTitles clicked(log);
  clicked_ = &clicked;
  Sample(v1::NEGATIVE_SAMPLING_IN_BATCH, 0);
  EXPECT_THAT(batch_.MaskedFor(2), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST_F(NegativeSamplerTest, KnowsTheClicksOfTheBatchIfNoOthers) {
  Sample(v1::NEGATIVE_SAMPLING_IN_BATCH, 0);
  EXPECT_THAT(batch_.MaskedFor(0), ElementsAre(0, 2, 4));
  EXPECT_THAT(batch_.MaskedFor(5), ElementsAre(5));
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

constexpr auto kShown = v1::NEGATIVE_SAMPLING_SHOWN_NOT_CLICKED;

TEST_F(NegativeSamplerTest, ShownTitlesThatDidWorseComeFirst) {
  Sample(kShown, 3);
  EXPECT_THAT(NegativesOf(0), UnorderedElementsAre(3, 20, 21));
  ASSERT_THAT(NegativesOf(4), SizeIs(3));
  const std::vector<TextId> shown = {NegativesOf(4)[0], NegativesOf(4)[1]};
  EXPECT_THAT(shown, UnorderedElementsAre(20, 21));
}

TEST_F(NegativeSamplerTest, UniformTitlesFillUp) {
  Sample(kShown, 7);
  for (int i = 0; i < batch_.num_pairs(); ++i) {
    ASSERT_THAT(NegativesOf(i), SizeIs(7));
    EXPECT_THAT(NegativesOf(i), Not(Contains(pairs_[i].title)));
  }
}

TEST_F(NegativeSamplerTest, EachShownTitleIsReached) {
  std::set<TextId> drawn;
  for (int round = 0; round < 50; ++round) {
    Sample(kShown, 1, round);
    drawn.insert(NegativesOf(0)[0]);
  }
  EXPECT_THAT(drawn, ElementsAre(3, 20, 21));
}

TEST_F(NegativeSamplerTest, HardNegativesStandBesideTheBatch) {
  hard_negatives_ = 2;
  Sample(v1::NEGATIVE_SAMPLING_IN_BATCH, 0);
  EXPECT_TRUE(batch_.all_titles);
  const auto& offsets = batch_.candidates.offsets;
  EXPECT_THAT(offsets, ElementsAre(0, 2, 2, 2, 2, 4, 4));
  for (const std::uint32_t place : batch_.candidates.indices) {
    EXPECT_THAT((std::vector<TextId>{3, 20, 21}),
                Contains(batch_.titles[place]));
  }
}

// Title 4 was shown for query 101 and is in the batch; 3 was clicked for query
// 100, but less than 0.
TEST_F(NegativeSamplerTest, AHardNegativeThatIsInTheBatchCountsOnce) {
  shown_ = ShownTitles(
      {{101, 1, 1, 0}, {101, 4, 0, 0}, {100, 0, 9, 0}, {100, 3, 2, 0}}, {},
      200);
  hard_negatives_ = 5;
  Sample(v1::NEGATIVE_SAMPLING_IN_BATCH, 0);
  EXPECT_THAT(batch_.candidates.offsets, ElementsAre(0, 1, 1, 1, 1, 1, 1));
  EXPECT_THAT(batch_.candidates.indices, ElementsAre(4));  // of query 100
  for (int round = 0; round < 20; ++round) {
    Sample(v1::NEGATIVE_SAMPLING_IN_BATCH, 4, round);
    EXPECT_THAT(NegativesOf(1), Contains(4).Times(1));
    EXPECT_THAT(NegativesOf(0), Contains(3).Times(1));
  }
}

TEST_F(NegativeSamplerTest, HardNegativesStandBesideRotations) {
  hard_negatives_ = 1;
  Sample(v1::NEGATIVE_SAMPLING_IN_BATCH, 2);
  EXPECT_THAT(pairs_[4], (TextPair{100, 3}));
  EXPECT_THAT((std::vector<TextId>{20, 21}), Contains(NegativesOf(4).back()));
}

// 256 pairs with 1,000 negatives each would be 256,000 titles.
TEST_F(NegativeSamplerTest, ABatchDrawsABoundedNumberOfTitles) {
  titles_.resize(1'000'000);
  std::iota(titles_.begin(), titles_.end(), 1000);
  pairs_.clear();
  for (TextId i = 0; i < 256; ++i) pairs_.push_back({i, 1000 + i});
  Sample(v1::NEGATIVE_SAMPLING_UNIFORM, 1000);
  EXPECT_LE(batch_.titles.size(), pairs_.size() + kMaxDrawnTitles);
  EXPECT_GT(batch_.titles.size(), 60'000u);
  EXPECT_THAT(NegativesOf(0), SizeIs(1000));
  EXPECT_THAT(NegativesOf(255), Not(Contains(pairs_[255].title)));
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
