#include "model/data/trec_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;

class TrecRunReaderTest : public ::testing::Test {
 protected:
  TrecRunReaderTest() {
    collection_.document_ids = {"d2", "d1"};
    collection_.documents = {"", ""};
    collection_.queries = {{"q1", "", {}, {}}, {"q2", "", {}, {}}};
  }
  void ExpectUnusable(std::string_view content, const std::string& reason) {
    EXPECT_THAT(Read(content),
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         AllOf(HasSubstr("x.run"), HasSubstr(reason))));
  }
  absl::StatusOr<TrecRun> Read(std::string_view content) {
    return ReadTrecRun(dir_.Write("x.run", content), collection_, bad_lines_);
  }

  TempDir dir_;
  Collection collection_;
  BadLines bad_lines_{10};
};

TEST_F(TrecRunReaderTest, ScoresAreThoseOfTheFile) {
  ASSERT_OK_AND_ASSIGN(const TrecRun run,
                       Read("q2 Q0 d1 1 0.5 x\nq2\tQ0\td2 2 -1.5e-3 x\n"
                            "q9 Q0 d1 1 1 x\n"));
  ASSERT_EQ(run.rankings.size(), 2u);
  EXPECT_TRUE(run.rankings[0].empty());
  EXPECT_THAT(run.rankings[1],
              ElementsAre(AllOf(Field(&ScoredDocument::document, 1),
                                Field(&ScoredDocument::score, 0.5f)),
                          AllOf(Field(&ScoredDocument::document, 0),
                                Field(&ScoredDocument::score, -1.5e-3f))));
  EXPECT_EQ(bad_lines_.count(), 0);
}

TEST_F(TrecRunReaderTest, BadLinesAreCounted) {
  ASSERT_OK_AND_ASSIGN(
      const TrecRun run,
      Read("q1 Q0 d1 1 0.5 x\nq1 Q0 d1 2 0.4 x\nq1 Q0 d2 1 x\n"
           "q1 Q0 d2 1 nan x\nq1 Q0 d2 1 inf x\nq1 Q0 d2 1 high x\n"));
  EXPECT_EQ(run.rankings[0].size(), 1u);
  EXPECT_EQ(bad_lines_.count(), 5);
}

TEST_F(TrecRunReaderTest, UnknownDocumentsAreKeptAndCounted) {
  ASSERT_OK_AND_ASSIGN(const TrecRun run,
                       Read("q1 Q0 x 1 3 r\nq1 Q0 d1 2 2 r\nq1 Q0 y 3 1 r\n"
                            "q1 Q0 y 4 0 r\nq2 Q0 y 1 1 r\n"));
  ASSERT_EQ(run.rankings[0].size(), 3u);
  EXPECT_EQ(run.rankings[0][0].document, 2u);
  EXPECT_EQ(run.rankings[0][2].document, 3u);
  EXPECT_EQ(run.rankings[1][0].document, 3u);
  EXPECT_THAT(run.unknown_ids, ElementsAre("x", "y"));
  EXPECT_EQ(run.num_unknown_documents, 3);
  EXPECT_EQ(bad_lines_.count(), 1);  // y is repeated
}

TEST_F(TrecRunReaderTest, CommentsEmptyLinesAndWordsAfterTheTagAreIgnored) {
  ASSERT_OK_AND_ASSIGN(const TrecRun run,
                       Read("# made by hand\n\n \t\n  # indented\n"
                            "q1 Q0 d1 1 0.5 my own run\n"));
  EXPECT_EQ(run.rankings[0].size(), 1u);
  EXPECT_EQ(bad_lines_.count(), 0);
}

TEST_F(TrecRunReaderTest, ARunWithoutAUsableLineIsAnError) {
  ExpectUnusable("", "of 0 lines");
  ExpectUnusable("# nothing\n", "of 0 lines");
  ExpectUnusable("q8 Q0 d1 1 1 x\nq9 Q0 d1 1 1 x\n",
                 "of 2 lines, 2 are of queries that --queries does not have");
  ExpectUnusable("q1 Q0 d1 1 0.5\n", "and 1 are bad");
}

TEST_F(TrecRunReaderTest, IdsThatAreNotUtf8AreBad) {
  ASSERT_OK_AND_ASSIGN(const TrecRun run,
                       Read("q1 Q0 d1 1 1 x\nq1 Q0 d\xff 1 0 x\n"));
  EXPECT_TRUE(run.unknown_ids.empty());
  EXPECT_EQ(bad_lines_.count(), 1);
}

TEST_F(TrecRunReaderTest, MissingFileIsNotFound) {
  EXPECT_THAT(ReadTrecRun(dir_.File("none"), collection_, bad_lines_),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("none")));
}

}  // namespace
}  // namespace semrank
