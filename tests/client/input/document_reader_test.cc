#include "client/input/document_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(CsvTest, FieldsMayBeQuoted) {
  EXPECT_THAT(ParseCsvRecord("").value(), ElementsAre(""));
  EXPECT_THAT(ParseCsvRecord("a,,b").value(), ElementsAre("a", "", "b"));
  EXPECT_THAT(ParseCsvRecord("\"\",\"x,\"\"y\"\"\nz\",").value(),
              ElementsAre("", "x,\"y\"\nz", ""));
}

TEST(CsvTest, MisplacedQuotesAreErrors) {
  const auto error = [](std::string_view record) {
    return std::string(ParseCsvRecord(record).status().message());
  };
  EXPECT_EQ(error("\"a\"b"), "text after a closing quote");
  EXPECT_EQ(error("a\"b\""), "a quote in an unquoted field");
  EXPECT_EQ(error("\"a"), "a quote is not closed");
}

TEST(DocumentReaderTest, FormatFollowsTheExtension) {
  EXPECT_EQ(DocumentFormatOf("a.csv.gz"), DocumentFormat::kCsv);
  EXPECT_EQ(DocumentFormatOf("a.jsonl.zst"), DocumentFormat::kJsonl);
  EXPECT_EQ(DocumentFormatOf("a.tsv"), DocumentFormat::kTsv);
  EXPECT_EQ(DocumentFormatOf("-"), DocumentFormat::kTsv);
}

TEST(DocumentReaderTest, ContinuesAfterALineInEveryShard) {
  const TempDir dir;
  const std::string file =
      dir.Write("docs.csv", "id,title\na,1\n\"b\",\"2\n2\"\nc,3\nd,4\n");
  ASSERT_OK_AND_ASSIGN(
      const auto reader,
      DocumentReader::Open(file, {.format = DocumentFormat::kCsv,
                                  .num_lines_before = 2,
                                  .shard = {.number = 2, .count = 2}}));
  ASSERT_OK_AND_ASSIGN(const DocumentBlock block, reader->NextBlock());
  EXPECT_THAT(block.lines, ElementsAre(4, 6));
  EXPECT_EQ(block.documents[0].title(), "2\n2");
  EXPECT_EQ(block.documents[1].document_id(), "d");
}

TEST(DocumentReaderTest, AQuoteThatIsNeverClosedIsABadLine) {
  const TempDir dir;
  const std::string file = dir.Write("docs.csv", "id,title\na,1\nb,\"2\nc,3\n");
  ASSERT_OK_AND_ASSIGN(
      const auto reader,
      DocumentReader::Open(
          file, {.format = DocumentFormat::kCsv, .max_bad_lines = 1}));
  ASSERT_OK_AND_ASSIGN(const DocumentBlock block, reader->NextBlock());
  EXPECT_THAT(block.documents, SizeIs(1));
  EXPECT_EQ(reader->num_bad_lines(), 1);
  ASSERT_OK_AND_ASSIGN(
      const auto strict,
      DocumentReader::Open(file, {.format = DocumentFormat::kCsv}));
  EXPECT_THAT(strict->NextBlock(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("a quote is not closed")));
}

TEST(DocumentReaderTest, ATitleMayHaveManyLinesAndQuotes) {
  const TempDir dir;
  const std::string file =
      dir.Write("docs.csv", "id,title\na,\"1\n\"\"2\"\"\n\n3\"\"\n4\"\nb,5\n");
  ASSERT_OK_AND_ASSIGN(
      const auto reader,
      DocumentReader::Open(file, {.format = DocumentFormat::kCsv}));
  ASSERT_OK_AND_ASSIGN(const DocumentBlock block, reader->NextBlock());
  ASSERT_THAT(block.documents, SizeIs(2));
  EXPECT_EQ(block.documents[0].title(), "1\n\"2\"\n\n3\"\n4");
  EXPECT_EQ(block.documents[1].title(), "5");
}

}  // namespace
}  // namespace semrank
