#include "model/data/document_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(DocumentReaderTest, FormatFollowsTheExtension) {
  EXPECT_EQ(DocumentFormatOf("a.csv.gz"), DocumentFormat::kCsv);
  EXPECT_EQ(DocumentFormatOf("a.jsonl.zst"), DocumentFormat::kJsonl);
  EXPECT_EQ(DocumentFormatOf("A.CSV.GZ"), DocumentFormat::kCsv);
  EXPECT_EQ(DocumentFormatOf("a.json"), DocumentFormat::kJsonl);
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
  EXPECT_EQ(block.documents[0].title, "2\n2");
  EXPECT_EQ(block.documents[1].id, "d");
}

// Reads all blocks; an error if one of them has one.
absl::Status ReadToEnd(DocumentReader& reader,
                       std::vector<FileDocument>& documents) {
  while (true) {
    auto block = reader.NextBlock();
    if (!block.ok()) return block.status();
    if (block->empty()) return absl::OkStatus();
    std::ranges::move(block->documents, std::back_inserter(documents));
  }
}

TEST(DocumentReaderTest, AQuoteThatIsNotClosedEndsTheFileThere) {
  const TempDir dir;
  for (const auto& [rest, reason] : {
           std::pair("c,3\nd,4\n",
                     "t.csv:3: the quote that opens in this line "
                     "is never closed"),
           std::pair("c,3\nd,\"4,4\"\n",
                     "t.csv:3: the quote that opens in this "
                     "line is not closed before line 5"),
           std::pair("c,3\nd,\"\"\n",
                     "t.csv:3: the quote that opens in this "
                     "line is never closed"),
       }) {
    const std::string file =
        dir.Write("t.csv", std::string("id,title\na,1\nb,\"19 inch\n") + rest);
    ASSERT_OK_AND_ASSIGN(
        const auto reader,
        DocumentReader::Open(
            file, {.format = DocumentFormat::kCsv, .max_bad_lines = 100}));
    std::vector<FileDocument> documents;
    EXPECT_THAT(ReadToEnd(*reader, documents),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr(reason), HasSubstr("(3 lines)"))));
    EXPECT_THAT(documents, SizeIs(1));
    EXPECT_EQ(reader->num_unread_lines(), 3);
    EXPECT_EQ(reader->line_number(), 2);
  }
}

TEST(DocumentReaderTest, AnOpenQuoteInALargeFileIsAnError) {
  const TempDir dir;
  std::string content = "id,title\na,\"19 inch\n";
  while (content.size() < 2 * LineReader::kMaxLineBytes) content += "b,tv\n";
  ASSERT_OK_AND_ASSIGN(const auto reader,
                       DocumentReader::Open(dir.Write("t.csv", content),
                                            {.format = DocumentFormat::kCsv,
                                             .max_bad_lines = 100}));
  EXPECT_THAT(
      reader->NextBlock(),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("t.csv:2: the quote that opens in this line is "
                         "not closed within 1048576 bytes")));
}

TEST(DocumentReaderTest, OddQuotesInOneLineSkipThatLine) {
  const TempDir dir;
  ASSERT_OK_AND_ASSIGN(
      const auto reader,
      DocumentReader::Open(
          dir.Write("t.csv", "id,title\na,19\" tv\nb,2\nc,\"x\"y\"\nd,4\n"),
          {.format = DocumentFormat::kCsv, .max_bad_lines = 2}));
  std::vector<FileDocument> documents;
  EXPECT_THAT(ReadToEnd(*reader, documents), IsOk());
  EXPECT_THAT(documents, SizeIs(2));
  EXPECT_EQ(reader->num_bad_lines(), 2);
}

TEST(DocumentReaderTest, ABadRecordCountsWithAllItsLines) {
  const TempDir dir;
  const std::string file =
      dir.Write("t.csv", "id,title\na,\"1\n2\n3\",x\nb,2\n");
  for (const std::int64_t max_bad_lines : {2, 3}) {
    ASSERT_OK_AND_ASSIGN(
        const auto reader,
        DocumentReader::Open(file, {.format = DocumentFormat::kCsv,
                                    .max_bad_lines = max_bad_lines}));
    const auto block = reader->NextBlock();
    EXPECT_EQ(block.ok(), max_bad_lines == 3) << block.status();
    EXPECT_EQ(reader->num_bad_lines(), 3);
  }
}

TEST(DocumentReaderTest, AJsonIdThatIsNoNumberIsAName) {
  const TempDir dir;
  ASSERT_OK_AND_ASSIGN(
      const auto reader,
      DocumentReader::Open(
          dir.Write("t.jsonl",
                    "{\"id\":\"abc\",\"title\":\"t\",\"tags\":[\"x\"]}"
                    "\n{\"id\":\"7\",\"title\":\"t\"}\n"),
          {.format = DocumentFormat::kJsonl}));
  ASSERT_OK_AND_ASSIGN(const DocumentBlock block, reader->NextBlock());
  ASSERT_THAT(block.documents, SizeIs(2));
  EXPECT_EQ(block.documents[0].id, "abc");
  EXPECT_THAT(block.documents[0].tags, ElementsAre("x"));
  EXPECT_FALSE(block.documents[0].numeric_id);
  EXPECT_EQ(block.documents[1].id, "7");
  EXPECT_TRUE(block.documents[1].numeric_id);
}

TEST(DocumentReaderTest, AJsonArrayIsRefused) {
  const TempDir dir;
  ASSERT_OK_AND_ASSIGN(
      const auto reader,
      DocumentReader::Open(dir.Write("t.json", "[\n{\"id\": 7}\n]\n"),
                           {.format = DocumentFormat::kJsonl}));
  EXPECT_THAT(reader->NextBlock(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("t.json:1: a JSON array: want JSON lines "
                                 "(.jsonl)")));
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
  EXPECT_EQ(block.documents[0].title, "1\n\"2\"\n\n3\"\n4");
  EXPECT_EQ(block.documents[1].title, "5");
}

}  // namespace
}  // namespace semrank
