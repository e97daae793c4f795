#include "model/data/collection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;

class CollectionTest : public ::testing::Test {
 protected:
  absl::StatusOr<Collection> Read(std::string_view documents,
                                  std::string_view queries,
                                  std::string_view qrels) {
    const CollectionFiles files{dir_.Write("docs.tsv", documents),
                                dir_.Write("queries.tsv", queries),
                                dir_.Write("qrels.txt", qrels)};
    return ReadCollection(files, bad_lines_);
  }
  // A file of documents in which one line is bad.
  void ExpectBadDocument(std::string_view line, std::string_view reason) {
    BadLines none(0);
    const CollectionFiles files{
        dir_.Write("docs.tsv", "d1\tApple\n" + std::string(line) + "\n"),
        dir_.Write("queries.tsv", "q1\tapple\n"),
        dir_.Write("qrels.txt", "q1 0 d1 1\n")};
    EXPECT_THAT(ReadCollection(files, none),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr("docs.tsv:2"), HasSubstr(reason))));
  }

  TempDir dir_;
  BadLines bad_lines_{100};
};

TEST_F(CollectionTest, TextsAreNormalisedAndJudgementsIndexed) {
  ASSERT_OK_AND_ASSIGN(
      const Collection collection,
      Read("d1\tApple-Pie!\nd2\t\nd3\tCream\n", "q1\tAPPLE\nq2\tcream?\n",
           "q2 0 d3 2\nq1\t0\td3  -1\nq1 0 d1 1\n"));
  EXPECT_THAT(collection.document_ids, ElementsAre("d3", "d2", "d1"));
  EXPECT_THAT(collection.documents, ElementsAre("cream", "", "apple pie"));
  ASSERT_EQ(collection.queries.size(), 2u);
  EXPECT_EQ(collection.queries[1].text, "cream");
  const auto& first = collection.queries[0].judgements;
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(first[0].document, 0u);
  EXPECT_EQ(first[0].grade, -1);
  EXPECT_EQ(first[1].document, 2u);
  EXPECT_EQ(first[1].grade, 1);
  EXPECT_EQ(bad_lines_.count(), 0);
}

TEST_F(CollectionTest, DocumentsAreOrderedByFallingIdWhateverTheFilesOrder) {
  for (const char* file : {"b\tx\nB\ty\nb1\tz\n", "b1\tz\nb\tx\nB\ty\n"}) {
    ASSERT_OK_AND_ASSIGN(const Collection collection,
                         Read(file, "q1\tx\n", "q1 0 B 1\n"));
    EXPECT_THAT(collection.document_ids, ElementsAre("b1", "b", "B"));
    EXPECT_THAT(collection.documents, ElementsAre("z", "x", "y"));
    EXPECT_EQ(collection.queries[0].judgements[0].document, 2u);
  }
}

TEST_F(CollectionTest, UnknownDocumentsAreCountedAndUnknownQueriesSkipped) {
  ASSERT_OK_AND_ASSIGN(
      const Collection collection,
      Read("d1\tapple\n", "q1\tapple\n",
           "q1 0 d1 1\nq1 0 gone 2\nq1 0 lost 0\nq9 0 d1 1\n"));
  EXPECT_EQ(collection.num_unknown_documents, 2);
  EXPECT_EQ(collection.queries.size(), 1u);
  EXPECT_THAT(collection.queries[0].missing,
              ElementsAre(AllOf(Field(&MissingDocument::id, "gone"),
                                Field(&MissingDocument::grade, 2))));
  EXPECT_EQ(bad_lines_.count(), 0);
}

TEST_F(CollectionTest, EmptyLinesAndCommentsAreIgnored) {
  ASSERT_OK_AND_ASSIGN(
      const Collection collection,
      Read("d1\tapple\n\n", "q1\tapple\n\n", "# grades\nq1 0 d1 1\n \n\n"));
  EXPECT_EQ(collection.queries[0].judgements.size(), 1u);
  EXPECT_EQ(bad_lines_.count(), 0);
}

TEST_F(CollectionTest, RepeatsAreBadAndTheFirstOneCounts) {
  ASSERT_OK_AND_ASSIGN(
      const Collection collection,
      Read("d1\tapple\nd1\tpear\n", "q1\tapple\nq1\tpear\n",
           "q1 0 d1 1\nq1 0 d1 2\nq1 0 gone 1\nq1 0 gone 1\n"));
  EXPECT_THAT(collection.documents, ElementsAre("apple"));
  EXPECT_EQ(collection.queries.size(), 1u);
  EXPECT_EQ(collection.queries[0].judgements[0].grade, 1);
  EXPECT_EQ(collection.queries[0].missing.size(), 1u);
  EXPECT_EQ(bad_lines_.count(), 4);
}

TEST_F(CollectionTest, BadDocumentLinesAreNamedWithTheReason) {
  ExpectBadDocument("no tab", "has no id");
  ExpectBadDocument("\ttitle", "has no id");
  ExpectBadDocument("d 2\ttitle", "is empty or contains a blank");
  ExpectBadDocument("d1\ttitle", "is repeated");
  ExpectBadDocument(std::string(1025, 'd') + "\ttitle", "1024 bytes");
  ExpectBadDocument("d2\t\xff", "");
  ExpectBadDocument("d\xff\ttitle", "not valid UTF-8");
  ExpectBadDocument("d2\t" + std::string(2 << 20, 'a'), "longer than");
}

TEST_F(CollectionTest, FurtherTabsBelongToTheTitle) {
  ASSERT_OK_AND_ASSIGN(
      const Collection collection,
      Read("d1\tapple\tpie\n", "q1\tapple\t7\n", "q1 0 d1 1\n"));
  EXPECT_THAT(collection.documents, ElementsAre("apple pie"));
  EXPECT_EQ(collection.queries[0].text, "apple 7");
}

TEST_F(CollectionTest, DocumentsAndQueriesMayBeCsvOrJson) {
  const CollectionFiles files{
      dir_.Write("docs.CSV", "title,document_id\n\"Apple,\nPie\",d1\n"),
      dir_.Write("queries.jsonl", "{\"id\": 7, \"title\": \"apple\"}\n"),
      dir_.Write("qrels.txt", "7 0 d1 1\n")};
  ASSERT_OK_AND_ASSIGN(const Collection collection,
                       ReadCollection(files, bad_lines_));
  EXPECT_THAT(collection.documents, ElementsAre("apple pie"));
  EXPECT_EQ(collection.queries[0].id, "7");
}

TEST_F(CollectionTest, IdsOfJsonHaveNoTabsOrLines) {
  for (const char* id : {"a\\tb", "a\\nb", "a\\rb"}) {
    BadLines none(0);
    const CollectionFiles files{
        dir_.Write("docs.jsonl",
                   absl::StrCat("{\"id\": \"", id, "\", \"title\": \"a\"}\n")),
        dir_.Write("queries.tsv", "q1\ta\n"),
        dir_.Write("qrels.txt", "q1 0 d1 1\n")};
    EXPECT_THAT(ReadCollection(files, none),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("is empty or contains a blank")));
  }
}

TEST_F(CollectionTest, AnArrayOrAnOpenQuoteIsNamed) {
  CollectionFiles files{
      dir_.Write("docs.json", "[\n{\"id\": 7, \"title\": \"a\"}\n]\n"),
      dir_.Write("queries.tsv", "q1\ta\n"),
      dir_.Write("qrels.txt", "q1 0 d1 1\n")};
  EXPECT_THAT(ReadCollection(files, bad_lines_),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("docs.json:1: a JSON array")));
  files.documents = dir_.Write("docs.csv", "id,title\nd1,\"19 inch\nd2,b\n");
  EXPECT_THAT(ReadCollection(files, bad_lines_),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("docs.csv:2: the quote that opens")));
}

TEST_F(CollectionTest, BadJudgementLinesAreCounted) {
  ASSERT_OK_AND_ASSIGN(const Collection collection,
                       Read("d1\tapple\nd2\tpear\n", "q1\tapple\n",
                            "q1 0 d1 1\nq1 0 d2\nq1 0 d2 1 x\n"));
  EXPECT_EQ(collection.queries[0].judgements.size(), 1u);
  EXPECT_EQ(bad_lines_.count(), 2);
}

TEST_F(CollectionTest, CommentsInQrelsAreIgnored) {
  ASSERT_OK_AND_ASSIGN(
      const Collection collection,
      Read("d1\tapple\n", "q1\tapple\n", "# by hand\nq1 0 d1 1\n#q1 0 d2 1\n"));
  EXPECT_EQ(collection.queries[0].judgements.size(), 1u);
  EXPECT_EQ(collection.num_unknown_documents, 0);
  EXPECT_EQ(bad_lines_.count(), 0);
}

TEST_F(CollectionTest, WholeGradesMayBeWrittenAsFloats) {
  ASSERT_OK_AND_ASSIGN(const Collection collection,
                       Read("d1\ta\nd2\tb\nd3\tc\n", "q1\ta\n",
                            "q1 0 d3 2.0\nq1 0 d2 -1e0\nq1 0 d1 30.\n"));
  const auto& judgements = collection.queries[0].judgements;
  ASSERT_EQ(judgements.size(), 3u);
  EXPECT_EQ(judgements[0].grade, 2);
  EXPECT_EQ(judgements[1].grade, -1);
  EXPECT_EQ(judgements[2].grade, 30);
}

TEST_F(CollectionTest, AGradeThatIsNoneRefusesTheFile) {
  for (const std::string grade :
       {"good", "1.5", "nan", "inf", "99999999999", "31"}) {
    EXPECT_THAT(Read("d1\tapple\n", "q1\tapple\n",
                     "q1 0 d1 1\nq1 0 d2 " + grade + "\n"),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr("qrels.txt:2"), HasSubstr(grade))));
  }
}

TEST_F(CollectionTest, OnlyTheExponentialGainLimitsGrades) {
  const CollectionFiles files{.documents = dir_.Write("docs.tsv", "d1\ta\n"),
                              .queries = dir_.Write("queries.tsv", "q1\ta\n"),
                              .qrels = dir_.Write("qrels.txt", "q1 0 d1 50\n"),
                              .max_grade = kMaxGrade};
  ASSERT_OK_AND_ASSIGN(const Collection collection,
                       ReadCollection(files, bad_lines_));
  EXPECT_EQ(collection.queries[0].judgements[0].grade, 50);
}

TEST_F(CollectionTest, TooManyBadLinesEndTheRun) {
  bad_lines_ = BadLines(1);
  EXPECT_THAT(
      Read("d1\tapple\nx\ny\n", "q1\tapple\n", "q1 0 d1 1\n"),
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(HasSubstr("docs.tsv:3"), HasSubstr("--max_bad_lines"))));
}

TEST_F(CollectionTest, NothingToEvaluateIsAnError) {
  EXPECT_THAT(Read("", "q1\tapple\n", "q1 0 d1 1\n"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("no documents")));
  EXPECT_THAT(Read("d1\tapple\n", "q1\tapple\n", "q1 0 d1 0\n"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("no query is left")));
}

TEST_F(CollectionTest, MissingFileIsNotFound) {
  EXPECT_THAT(ReadCollection({dir_.File("none.tsv"), "", ""}, bad_lines_),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("none.tsv")));
}

}  // namespace
}  // namespace semrank
