#include "model/train/batches/query_typos.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/model/train/recipe_options.h"

namespace semrank {
namespace {

using ::testing::IsSupersetOf;

std::set<std::string> TyposOf(std::string_view text) {
  std::set<std::string> typos;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    Random random(1, RandomPurpose::kQueryTypos, i);
    typos.insert(Mistype(text, random).value_or("none"));
  }
  return typos;
}

// Insertions, deletions and replacements, and swaps of adjacent letters.
int EditDistance(const std::string& a, const std::string& b) {
  std::vector<std::vector<int>> d(a.size() + 1, std::vector<int>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = static_cast<int>(i + j);
        continue;
      }
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1,
                          d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

TEST(MistypeTest, MakesExactlyOneEdit) {
  for (const std::string& typo : TyposOf("edit my photoss")) {
    EXPECT_EQ(EditDistance("edit my photoss", typo), 1) << typo;
    EXPECT_NE(typo.find(" my "), std::string::npos) << "too short a word";
  }
}

TEST(MistypeTest, DeletesInsertsReplacesAndSwaps) {
  EXPECT_THAT(TyposOf("git"),
              IsSupersetOf({"it", "gi", "gt", "gitt", "xgit", "gxit", "xit",
                            "gix", "igt", "gti"}));
}

TEST(MistypeTest, LeavesShortWordsAndNumbersAlone) {
  EXPECT_EQ(TyposOf("go to 2013 x360"), std::set<std::string>{"none"});
  EXPECT_EQ(TyposOf(""), std::set<std::string>{"none"});
}

TEST(MistypeTest, EditsCodePointsOfOtherScripts) {
  for (const std::string& typo : TyposOf("\u043c\u0438\u0440")) {
    EXPECT_EQ(typo.size() % 2, 0u);  // each letter has two bytes
    EXPECT_NE(typo, "\u043c\u0438\u0440");
  }
}

TEST(QueryTyposTest, MistypesAShareOfTheQueries) {
  TrainOptions options = PlainOptions();
  const auto count = [&options](double share, int epoch) {
    options.loss.query_typos = share;
    QueryTypos typos(options, epoch, /*batch=*/3);
    std::vector<bool> mistyped;
    for (int i = 0; i < 1000; ++i) {
      mistyped.push_back(typos.Next("query").has_value());
    }
    return mistyped;
  };
  EXPECT_EQ(std::ranges::count(count(0, 1), true), 0);
  EXPECT_EQ(std::ranges::count(count(1, 1), true), 1000);
  EXPECT_NEAR(std::ranges::count(count(0.2, 1), true), 200, 40);
  EXPECT_EQ(count(0.2, 1), count(0.2, 1));
  EXPECT_NE(count(0.2, 1), count(0.2, 2));
}

}  // namespace
}  // namespace semrank
