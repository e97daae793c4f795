#include "model/data/text_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "model/base/line_reader.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ReadTextsTest : public ::testing::Test {
 protected:
  absl::StatusOr<TextList> Read(std::string_view content,
                                std::int64_t max_bad_lines = 0,
                                const std::string& name = "t.txt") {
    return ReadTexts(dir_.Write(name, content),
                     {.format = DocumentFormatOf(name),
                      .form = {.ids_are_optional = true},
                      .with_empty_lines = with_empty_lines_,
                      .max_bad_lines = max_bad_lines});
  }
  bool with_empty_lines_ = true;
  TempDir dir_;
};

TEST_F(ReadTextsTest, EachLineIsAText) {
  ASSERT_OK_AND_ASSIGN(const TextList list, Read("a b\r\nc\n\nd"));
  EXPECT_THAT(list.texts, ElementsAre("a b", "c", "", "d"));
  EXPECT_THAT(list.ids, IsEmpty());
}

TEST_F(ReadTextsTest, FirstTabEndsTheId) {
  ASSERT_OK_AND_ASSIGN(const TextList list, Read("1\ta\tb\n2\t\n"));
  EXPECT_THAT(list.texts, ElementsAre("a\tb", ""));
  EXPECT_THAT(list.ids, ElementsAre("1", "2"));
}

TEST_F(ReadTextsTest, LinesWithAndWithoutIdMayBeMixed) {
  ASSERT_OK_AND_ASSIGN(const TextList list, Read("a\n1\tb\nc\n"));
  EXPECT_THAT(list.texts, ElementsAre("a", "b", "c"));
  EXPECT_THAT(list.ids, ElementsAre("", "1", ""));
}

TEST_F(ReadTextsTest, EmptyLinesMayBeSkipped) {
  with_empty_lines_ = false;
  ASSERT_OK_AND_ASSIGN(const TextList list, Read("\na\n\nb\n"));
  EXPECT_THAT(list.texts, ElementsAre("a", "b"));
}

TEST_F(ReadTextsTest, TextsOfCsvAndJsonAreTheTitles) {
  ASSERT_OK_AND_ASSIGN(
      TextList list, Read("id,tags,title\n7,x,\"a, b\"\n\n,,c\n", 0, "t.CSV"));
  EXPECT_THAT(list.texts, ElementsAre("a, b", "c"));
  EXPECT_THAT(list.ids, ElementsAre("7", ""));
  ASSERT_OK_AND_ASSIGN(list, Read("title\na\n", 0, "t.csv"));
  EXPECT_THAT(list.texts, ElementsAre("a"));
  ASSERT_OK_AND_ASSIGN(
      list,
      Read("{\"id\":7,\"title\":\"a\"}\n{\"title\":\"b\"}\n", 0, "t.jsonl"));
  EXPECT_THAT(list.texts, ElementsAre("a", "b"));
  EXPECT_THAT(list.ids, ElementsAre("7", ""));
}

TEST_F(ReadTextsTest, BadLinesAreSkippedAndReported) {
  ::testing::internal::CaptureStderr();
  const std::string too_long(LineReader::kMaxLineBytes + 5, 'x');
  ASSERT_OK_AND_ASSIGN(const TextList list,
                       Read("a\ncaf\xe9\n" + too_long + "\nb\n", 2));
  EXPECT_THAT(list.texts, ElementsAre("a", "b"));
  EXPECT_EQ(list.num_skipped_lines, 2);
  const std::string printed = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(printed, HasSubstr("t.txt:2: not valid UTF-8"));
  EXPECT_THAT(printed, HasSubstr("t.txt:3: longer than 1048575 bytes"));
  EXPECT_THAT(printed, HasSubstr("t.txt: 2 lines skipped"));
}

TEST_F(ReadTextsTest, BadLinesOfOtherFilesAreNotItsOwn) {
  BadLines bad_lines(2, /*num_before=*/1);
  ASSERT_OK_AND_ASSIGN(
      const TextList list,
      ReadTexts(dir_.Write("t.txt", "a\n"),
                {.form = {.ids_are_optional = true}, .bad_lines = &bad_lines}));
  EXPECT_EQ(list.num_skipped_lines, 0);
  EXPECT_EQ(bad_lines.count(), 1);
}

TEST_F(ReadTextsTest, TooManyBadLinesAreAnError) {
  EXPECT_THAT(Read("a\n\xff\n"), StatusIs(absl::StatusCode::kInvalidArgument,
                                          HasSubstr("t.txt:2: not valid")));
}

TEST_F(ReadTextsTest, AMissingFileIsNotFound) {
  EXPECT_THAT(ReadTexts(dir_.File("none"), {}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("none")));
}

}  // namespace
}  // namespace semrank
