#include "model/data/pair_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/base/interrupt.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class PairReaderTest : public ::testing::Test {
 protected:
  // All pairs as "query|title|clicks|impressions".
  absl::StatusOr<std::vector<std::string>> ReadAll(
      std::vector<std::string> paths, std::int64_t max_bad_lines = 0) {
    bad_lines_ = BadLines(max_bad_lines);
    reader_ =
        std::make_unique<PairReader>(std::move(paths), lines_, bad_lines_);
    std::vector<std::string> pairs;
    ClickPair pair;
    for (;;) {
      absl::StatusOr<bool> more = reader_->Next(pair);
      if (!more.ok()) return more.status();
      if (!*more) return pairs;
      pairs.push_back(pair.query + "|" + pair.title + "|" +
                      std::to_string(pair.clicks) + "|" +
                      std::to_string(pair.impressions));
    }
  }

  TempDir dir_;
  BadLines bad_lines_{0};
  PairLines lines_ = PairLines::kClicked;
  std::unique_ptr<PairReader> reader_;
};

TEST_F(PairReaderTest, NormalisesTextsAndReadsCounts) {
  const std::string path = dir_.Write(
      "a.tsv", "Cheap FLIGHTS!\tFlights, cheap\nq\tt\t3\nq\tt\t2\t10\n");
  ASSERT_OK_AND_ASSIGN(const auto pairs, ReadAll({path}));
  EXPECT_THAT(pairs, ::testing::ElementsAre("cheap flights|flights cheap|1|0",
                                            "q|t|3|0", "q|t|2|10"));
}

TEST_F(PairReaderTest, ReadsSeveralFilesInOrder) {
  const std::string a = dir_.Write("a.tsv", "one\ta\n");
  const std::string b = dir_.Write("b.tsv", "");
  const std::string c = dir_.Write("c.tsv", "two\tb");
  ASSERT_OK_AND_ASSIGN(const auto pairs, ReadAll({a, b, c}));
  EXPECT_THAT(pairs, ::testing::ElementsAre("one|a|1|0", "two|b|1|0"));
}

TEST_F(PairReaderTest, LeavesOutAndCountsPairsWithoutClicks) {
  const std::string path =
      dir_.Write("a.tsv", "q\tshown\t0\t5\nq\tclicked\t1\t5\n");
  ASSERT_OK_AND_ASSIGN(const auto pairs, ReadAll({path}));
  EXPECT_THAT(pairs, ::testing::ElementsAre("q|clicked|1|5"));
  EXPECT_EQ(reader_->num_without_clicks(), 1);
  EXPECT_EQ(bad_lines_.count(), 0);
}

TEST_F(PairReaderTest, TextsWithoutWordsAreCountedApartFromBadLines) {
  const std::string path = dir_.Write("a.tsv", "\ttitle\nq\t?!...\nq\tt\n");
  ASSERT_OK_AND_ASSIGN(const auto pairs, ReadAll({path}));
  EXPECT_THAT(pairs, ::testing::ElementsAre("q|t|1|0"));
  EXPECT_EQ(reader_->num_without_words(), 2);
  EXPECT_EQ(bad_lines_.count(), 0);
}

TEST_F(PairReaderTest, EmptyLinesAreNotBad) {
  const std::string path = dir_.Write("a.tsv", "\nq\tt\n\r\n\n");
  ASSERT_OK_AND_ASSIGN(const auto pairs, ReadAll({path}));
  EXPECT_THAT(pairs, ::testing::ElementsAre("q|t|1|0"));
}

TEST_F(PairReaderTest, CtrlCEndsReading) {
  const std::string path = dir_.Write("a.tsv", "q\tt\n");
  Interrupt();
  EXPECT_THAT(ReadAll({path}), StatusIs(absl::StatusCode::kCancelled));
  CatchInterrupts();  // clears the flag
}

TEST_F(PairReaderTest, SkipsBadLinesUpToTheLimit) {
  const std::string path = dir_.Write("a.tsv", "alone\nq\tt\nx\ty\tz\n");
  ASSERT_OK_AND_ASSIGN(const auto pairs, ReadAll({path}, 2));
  EXPECT_EQ(pairs.size(), 1u);
  EXPECT_EQ(bad_lines_.count(), 2);
  EXPECT_THAT(ReadAll({path}, 1),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("a.tsv"), HasSubstr("3"),
                             HasSubstr("--max_bad_lines"))));
}

TEST_F(PairReaderTest, TellsHowManyBytesOfAllFilesAreRead) {
  const std::string a = dir_.Write("a.tsv", "one\ta\n");
  const std::string b = dir_.Write("b.tsv", "two\tb\none\tb\nq\tcc\n");
  PairReader reader({a, b}, PairLines::kClicked, bad_lines_);
  ClickPair pair;
  EXPECT_TRUE(reader.Next(pair).value());
  EXPECT_DOUBLE_EQ(reader.fraction_read(), 6.0 / 23);
  while (reader.Next(pair).value()) {
  }
  EXPECT_EQ(reader.fraction_read(), 1);
}

TEST_F(PairReaderTest, AFileOfBadLinesFailsAtItsEnd) {
  bad_lines_ = BadLines(BadLineLimit(100, /*max_share=*/0.5));
  PairReader reader({dir_.Write("clicks.csv", "query,title\na,b\n")},
                    PairLines::kClicked, bad_lines_);
  ClickPair pair;
  EXPECT_THAT(reader.Next(pair),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("clicks.csv: 2 of its 2 lines cannot")));
}

TEST_F(PairReaderTest, MissingFileIsNamed) {
  EXPECT_THAT(ReadAll({dir_.File("none.tsv")}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("none.tsv")));
}

struct BadLineCase {
  std::string name;
  std::string line;
  std::string reason;
};

class BadLineTest : public PairReaderTest,
                    public ::testing::WithParamInterface<BadLineCase> {};

TEST_P(BadLineTest, IsRefusedWithItsReason) {
  const std::string path = dir_.Write("a.tsv", GetParam().line + "\n");
  EXPECT_THAT(ReadAll({path}), StatusIs(absl::StatusCode::kInvalidArgument,
                                        HasSubstr(GetParam().reason)));
}

INSTANTIATE_TEST_SUITE_P(
    Lines, BadLineTest,
    ::testing::Values(
        BadLineCase{"OneField", "query", "1 field between"},
        BadLineCase{"SixFields", "q\tt\t1\t2\t3\t4", "6 fields"},
        BadLineCase{"PositionZero", "q\tt\t1\t2\t0", "the first position is 1"},
        BadLineCase{"WordForPosition", "q\tt\t1\t2\ttop", "position \"top\""},
        BadLineCase{"Header", "Query\tTitle\tClicks", "is a header"},
        BadLineCase{"QueryNotUtf8", "a\xff\xfe\ttitle", "query: "},
        BadLineCase{"TitleNotUtf8", "query\ta\xc3", "title: "},
        BadLineCase{"NegativeClicks", "q\tt\t-1", "clicks \"-1\""},
        BadLineCase{"FractionOfClicks", "q\tt\t1.5", "clicks \"1.5\""},
        BadLineCase{"EmptyClicks", "q\tt\t", "clicks \"\""},
        BadLineCase{"HugeClicks", "q\tt\t99999999999999999999",
                    "0 to 9223372036854775807"},
        BadLineCase{"WordForImpressions", "q\tt\t1\tmany",
                    "impressions \"many\""},
        BadLineCase{"TooLong",
                    "q\t" + std::string(LineReader::kMaxLineBytes, 'x'),
                    "longer than"}),
    [](const auto& tested) { return tested.param.name; });

TEST_F(PairReaderTest, PairsWithoutClicksAreHandedOutWhenAskedFor) {
  const std::string path = dir_.Write("p.tsv", "q\tt\t0\nq\tu\t2\t9\n");
  lines_ = PairLines::kAll;
  ASSERT_OK_AND_ASSIGN(const auto pairs, ReadAll({path}));
  EXPECT_THAT(pairs, ElementsAre("q|t|0|0", "q|u|2|9"));
  EXPECT_EQ(reader_->num_without_clicks(), 1);
}

TEST_F(PairReaderTest, JudgedTitlesHaveAGrade) {
  const std::string path = dir_.Write("j.tsv", "q\tt\t0\nq\tu\t2\n");
  lines_ = PairLines::kJudged;
  ASSERT_OK_AND_ASSIGN(const auto judged, ReadAll({path}));
  EXPECT_THAT(judged, ElementsAre("q|t|0|0", "q|u|2|0"));
  EXPECT_THAT(ReadAll({dir_.Write("bad.tsv", "q\tt\n")}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("query, title, grade")));
}

}  // namespace
}  // namespace semrank
