#include "model/data/text_pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(ClickedTitlesTest, AreTheDistinctTitlesOfAQuery) {
  const std::vector<TextPair> pairs = {{7, 3}, {5, 9}, {7, 1}, {7, 3},
                                       {5, 9}, {9, 3}, {9, 2}};
  const ClickedTitles clicked(pairs);
  EXPECT_THAT(clicked.Of(5), ElementsAre(9));
  EXPECT_THAT(clicked.Of(6), IsEmpty());
  EXPECT_THAT(clicked.Of(7), ElementsAre(1, 3));
  EXPECT_THAT(clicked.Of(8), IsEmpty());
  EXPECT_THAT(clicked.Of(9), ElementsAre(2, 3));
  EXPECT_THAT(clicked.Of(10), IsEmpty());
}

TEST(ClickedTitlesTest, OfNoPairsAreNone) {
  EXPECT_THAT(ClickedTitles().Of(0), IsEmpty());
  EXPECT_THAT(ClickedTitles(std::vector<TextPair>()).Of(0), IsEmpty());
}

std::set<TextId> QueriesOf(const std::vector<TextPair>& pairs) {
  std::set<TextId> queries;
  for (const TextPair& pair : pairs) queries.insert(pair.query);
  return queries;
}

TEST(HoldOutQueriesTest, NoQueryStandsOnBothSides) {
  std::vector<TextPair> pairs;
  for (TextId i = 0; i < 1000; ++i) pairs.push_back({i % 100, 1000 + i});
  const std::vector<TextPair> all = pairs;
  std::vector<TextPair> held_out = HoldOutQueries(0.1, 1, pairs);
  EXPECT_THAT(QueriesOf(held_out), SizeIs(10));
  EXPECT_THAT(QueriesOf(pairs), SizeIs(90));
  EXPECT_THAT(held_out, SizeIs(100));
  EXPECT_THAT(pairs, SizeIs(900));
}

TEST(HoldOutQueriesTest, KeepsTheOrderAndDependsOnTheSeed) {
  std::vector<TextPair> pairs;
  for (TextId i = 0; i < 200; ++i) pairs.push_back({i, 1000 + i});
  std::vector<TextPair> first = pairs, second = pairs, third = pairs;
  const auto in_order = [](const TextPair& a, const TextPair& b) {
    return a.query < b.query;
  };
  const std::vector<TextPair> held_out = HoldOutQueries(0.25, 1, first);
  EXPECT_TRUE(std::is_sorted(first.begin(), first.end(), in_order));
  EXPECT_TRUE(std::is_sorted(held_out.begin(), held_out.end(), in_order));
  EXPECT_EQ(HoldOutQueries(0.25, 1, second), held_out);
  EXPECT_NE(HoldOutQueries(0.25, 2, third), held_out);
}

}  // namespace
}  // namespace semrank
