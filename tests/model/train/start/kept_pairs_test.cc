#include "model/train/start/kept_pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class KeptPairsTest : public ::testing::Test {
 protected:
  // Pairs q0 TAB t0 to q99 TAB t99.
  KeptPairsTest() {
    for (int i = 0; i < 100; ++i) {
      pairs_.push_back(Pair(absl::StrCat("q", i), absl::StrCat("t", i)));
    }
  }
  TextPair Pair(const std::string& query, const std::string& title) {
    return {texts_.Intern(query), texts_.Intern(title), 2};
  }
  std::vector<ClickPair> Kept(std::span<const TextPair> pairs, int max_pairs) {
    dir_.Write(kKeptPairsFile, FormatKeptPairs(texts_, pairs, max_pairs));
    return ReadKeptPairs(dir_.path()).value();
  }

  TempDir dir_;
  TextInterner texts_;
  std::vector<TextPair> pairs_;
};

TEST_F(KeptPairsTest, AFolderWithoutFileKeepsNone) {
  ASSERT_OK_AND_ASSIGN(const auto kept, ReadKeptPairs(dir_.path()));
  EXPECT_THAT(kept, IsEmpty());
  EXPECT_EQ(FormatKeptPairs(texts_, pairs_, 0), "");
}

TEST_F(KeptPairsTest, APairTooLongForALineIsNotKept) {
  const std::vector<TextPair> pairs = {
      pairs_[0], Pair("long", std::string(1'100'000, 't'))};
  EXPECT_THAT(Kept(pairs, 10), SizeIs(1));
}

TEST_F(KeptPairsTest, TextsKeepTheirFurtherWords) {
  // As the normalizer writes "learn C++".
  const auto kept = Kept(std::vector{Pair("learn c\tc++", "title")}, 10);
  ASSERT_THAT(kept, SizeIs(1));
  EXPECT_EQ(kept[0].query, "learn c\tc++");
  EXPECT_EQ(kept[0].title, "title");
  EXPECT_EQ(kept[0].clicks, 2);
  dir_.Write(kKeptPairsFile, "learn c\tc++\ttitle\t1\n");
  EXPECT_THAT(ReadKeptPairs(dir_.path()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("pairs.tsv:1 is not a line")));
}

TEST_F(KeptPairsTest, FilesThatNoRunWroteAreRefused) {
  // The last one is the head of a gzip file.
  for (const std::string_view content :
       {"abc\xff\tt\t1\n", "\tt\t1\n", "q\t\t1\n", "q\tt\t0\n",
        "q\tt\t1\n\nq\tt\t1\n", "\x1f\x8b\x08"}) {
    dir_.Write(kKeptPairsFile, content);
    EXPECT_THAT(
        ReadKeptPairs(dir_.path()),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("pairs.tsv:")))
        << content;
  }
}

TEST_F(KeptPairsTest, TheSampleOfTwoNightsIsTheSampleOfTheirSamples) {
  const auto nights = std::span(pairs_);
  const std::string all = FormatKeptPairs(texts_, pairs_, 10);
  std::vector<TextPair> both;
  for (const auto& night : {nights.first(60), nights.subspan(60)}) {
    for (const ClickPair& pair : Kept(night, 10)) {
      both.push_back(InternPair(pair, texts_));
    }
  }
  std::ranges::reverse(both);
  EXPECT_EQ(FormatKeptPairs(texts_, both, 10), all);
  EXPECT_EQ(std::ranges::count(all, '\n'), 10);
}

TEST_F(KeptPairsTest, PairsThatTheStartHasSeenAreRecognised) {
  const auto kept = Kept(std::span(pairs_).first(50), 1000);
  const SeenPairs all = CountSeen(kept, texts_, pairs_);
  // Up to the highest hash of 50 pairs, which about one in 51 exceeds.
  EXPECT_NEAR(all.num_compared, 100, 6);
  EXPECT_EQ(all.num_seen, 50);
  // By a sample: only pairs that it would have are compared.
  const auto sample = Kept(std::span(pairs_).first(50), 25);
  const SeenPairs some = CountSeen(sample, texts_, std::span(pairs_).first(50));
  EXPECT_EQ(some.num_compared, 25);
  EXPECT_EQ(some.Share(), 1);
}

TEST_F(KeptPairsTest, PairsOfHeldOutQueriesAreNotTrainedOn) {
  const auto kept = Kept(pairs_, 1000);
  std::vector<TextPair> run = {pairs_[0], Pair("q1", "other")};
  const std::vector<TextPair> held_out = {Pair("q2", "other")};
  const std::vector<TextPair> unwanted = {pairs_[3], Pair("q4", "other")};
  const auto omitted = AppendKept(kept, held_out, unwanted, texts_, run);
  EXPECT_THAT(omitted, SizeIs(1));
  // Its own two, and all kept ones but q0, q2 and q3.
  EXPECT_THAT(run, SizeIs(2 + 97));
}

}  // namespace
}  // namespace semrank
