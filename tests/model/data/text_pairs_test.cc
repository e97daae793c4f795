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

TEST(HoldOutComponentsTest, NoTextStandsOnBothSides) {
  // Chains of three pairs: query 10 i, title 10 i + 1, query 10 i + 2, ...
  std::vector<TextPair> pairs;
  for (TextId i = 0; i < 1000; ++i) {
    for (TextId k = 0; k < 3; ++k) {
      const TextId query = 10 * i + (k + 1) / 2 * 2;
      pairs.push_back({query, 10 * i + k / 2 * 2 + 1});
    }
  }
  const std::vector<TextPair> held_out = HoldOutComponents(0.1, 1, pairs);
  EXPECT_EQ(held_out.size(), 300u);
  EXPECT_EQ(pairs.size(), 2700u);
  std::set<TextId> components;
  for (const TextPair& pair : held_out) components.insert(pair.query / 10);
  EXPECT_EQ(components.size(), 100u);
  for (const TextPair& pair : pairs) {
    EXPECT_FALSE(components.contains(pair.query / 10));
  }
}

TEST(HoldOutComponentsTest, OfOneComponentNothingIsTaken) {
  std::vector<TextPair> pairs;
  for (TextId i = 1; i < 100; ++i) pairs.push_back({i, 1000});
  EXPECT_THAT(HoldOutComponents(0.5, 1, pairs), IsEmpty());
  EXPECT_EQ(pairs.size(), 99u);
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
