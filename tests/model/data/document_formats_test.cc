#include "model/data/document_formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(CsvRecordTest, FieldsMayBeQuoted) {
  const auto fields = [](std::string_view line) {
    CsvRecord record;
    EXPECT_TRUE(record.AddLine(line).value());
    return record.fields();
  };
  EXPECT_THAT(fields(""), ElementsAre(""));
  EXPECT_THAT(fields("a,,b"), ElementsAre("a", "", "b"));
  EXPECT_THAT(fields("\"\",\"x,\"\"y\"\"z\","),
              ElementsAre("", "x,\"y\"z", ""));
}

TEST(CsvRecordTest, AQuotedFieldMayHaveSeveralLines) {
  CsvRecord record;
  EXPECT_FALSE(record.AddLine("a,\"b").value());
  EXPECT_FALSE(record.AddLine("").value());
  EXPECT_FALSE(record.AddLine("c\",\"d").value());
  EXPECT_EQ(record.quote_line(), 2);
  EXPECT_TRUE(record.AddLine("\"").value());
  EXPECT_THAT(record.fields(), ElementsAre("a", "b\n\nc", "d\n"));
  EXPECT_EQ(record.num_lines(), 4);
}

TEST(CsvRecordTest, MisplacedQuotesAreErrors) {
  const auto error = [](std::string_view line) {
    CsvRecord record;
    return std::string(record.AddLine(line).status().message());
  };
  EXPECT_EQ(error("\"a\"b"), "text after a closing quote");
  EXPECT_EQ(error("a\"b\""), "a quote in an unquoted field");
}

FileDocument Parsed(std::string_view json) {
  FileDocument document;
  EXPECT_THAT(ParseJsonDocument(json, document), IsOk()) << json;
  return document;
}

TEST(ParseJsonDocumentTest, ReadsWhatGetPrints) {
  const FileDocument document = Parsed(
      R"({"documentId":"gimp","title":"photo","payload":"YT0/","tags":["x","y"]})");
  EXPECT_EQ(document.id, "gimp");
  EXPECT_FALSE(document.numeric_id);
  EXPECT_EQ(document.title, "photo");
  EXPECT_EQ(document.payload, "a=?");
  EXPECT_THAT(document.tags, ElementsAre("x", "y"));
  EXPECT_EQ(Parsed(R"({"title":"t","payload":"YT0_","tags":null})").payload,
            "a=?");
}

TEST(ParseJsonDocumentTest, AWholeNumberIsANumericId) {
  for (const std::string_view id :
       {"18446744073709551615", "\"18446744073709551615\""}) {
    const FileDocument document =
        Parsed("{\"id\":" + std::string(id) + ",\"title\":\"t\"}");
    EXPECT_EQ(document.id, "18446744073709551615");
    EXPECT_TRUE(document.numeric_id);
  }
  EXPECT_EQ(Parsed(R"({"id":7.0})").id, "7");
}

TEST(ParseJsonDocumentTest, OtherFormsOfANumberAreNames) {
  for (const std::string id :
       {"00123", "+123", " 123", "18446744073709551616"}) {
    const FileDocument document = Parsed("{\"id\":\"" + id + "\"}");
    EXPECT_EQ(document.id, id);
    EXPECT_FALSE(document.numeric_id) << id;
  }
}

TEST(ParseTsvDocumentTest, NumericIdsHaveOneForm) {
  FileDocument document;
  EXPECT_THAT(ParseTsvDocument("123\tt", {.numeric_ids = true}, document),
              IsOk());
  EXPECT_THAT(ParseTsvDocument("00123\tt", {.numeric_ids = true}, document),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("\"00123\" is not a number")));
}

TEST(ParseJsonDocumentTest, NamesWhatIsWrong) {
  const auto error = [](std::string_view json) {
    FileDocument document;
    return std::string(ParseJsonDocument(json, document).message());
  };
  EXPECT_EQ(error("{\"title\":"),
            "no document as JSON: the line is not a JSON object");
  EXPECT_THAT(error(R"({"titel":"t"})"), HasSubstr("unknown field \"titel\""));
  EXPECT_THAT(error(R"({"id":7.5})"), HasSubstr("id is not a number"));
  // The double 2^53 stands for 2^53 + 1, too.
  EXPECT_THAT(error(R"({"id":9007199254740993.0})"), HasSubstr("2^53 or more"));
  EXPECT_THAT(error(R"({"id":1,"document_id":"a"})"),
              HasSubstr("id and document_id are given"));
  EXPECT_THAT(error(R"({"title":7})"), HasSubstr("title is not a string"));
  EXPECT_THAT(error(R"({"tags":["a",1]})"), HasSubstr("a tag is not a string"));
  EXPECT_THAT(error(R"({"payload":"?"})"), HasSubstr("payload is not base64"));
}

}  // namespace
}  // namespace semrank
