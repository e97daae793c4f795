#include "server/stores/store_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;

const std::vector<float> kVector = {.5f, -1, 3};
const StoredDocument kDocument = {std::uint64_t{7}, "a title", "{\"u\": 1}",
                                  "model",          kVector,   "\5paint"};

TEST(VectorRecordTest, AValueIsReadUnderItsOwnKeyOnly) {
  std::vector<float> row(3);
  const std::string value = VectorValue("key", kVector);
  EXPECT_FALSE(ReadVectorValue("yek", value, row));
  EXPECT_EQ(row, std::vector<float>(3, 0));
  EXPECT_TRUE(ReadVectorValue("key", value, row));
  EXPECT_EQ(row, kVector);
}

TEST(VectorRecordTest, AValueCutOrChangedAtAnyByteIsRefused) {
  const std::string value = VectorValue("key", kVector);
  std::vector<float> row(3);
  for (std::size_t i = 0; i < value.size(); ++i) {
    std::string changed = value;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_FALSE(ReadVectorValue("key", changed, row)) << i;
    EXPECT_FALSE(ReadVectorValue("key", value.substr(0, i), row)) << i;
  }
  EXPECT_FALSE(ReadVectorValue("key", value + "x", row));
}

TEST(VectorRecordTest, KeysDifferByModelSideTextAndSecret) {
  const Fingerprinter ours(Fingerprinter::RandomSecret());
  const Fingerprinter other(Fingerprinter::RandomSecret());
  const auto key = [](const Fingerprinter& fingerprint, std::string_view model,
                      Side side, std::string_view text) {
    return std::string(
        VectorKeys(fingerprint, {model, side, 3}, {&text, 1})[0]);
  };
  const std::string usual = key(ours, "m", Side::kDocument, "t");
  EXPECT_EQ(usual, key(ours, "m", Side::kDocument, "t"));
  EXPECT_NE(usual, key(ours, "n", Side::kDocument, "t"));
  EXPECT_NE(usual, key(ours, "m", Side::kQuery, "t"));
  EXPECT_NE(usual, key(ours, "m", Side::kDocument, "u"));
  EXPECT_NE(usual, key(other, "m", Side::kDocument, "t"));
}

TEST(DocumentRecordTest, NumbersAndNamesAreApart) {
  EXPECT_NE(DocumentKeyBytes(std::uint64_t{7}), DocumentKeyBytes("7"));
  EXPECT_EQ(DescribeKey(std::uint64_t{7}), "7");
  EXPECT_EQ(DescribeKey("a\n"), "\"a\\n\"");
}

TEST(DocumentRecordTest, IsReadAsItWasWritten) {
  for (const DocumentKeyView& key :
       {DocumentKeyView(std::uint64_t{7}), DocumentKeyView("name")}) {
    const std::string bytes = DocumentKeyBytes(key);
    std::vector<float> vector;
    const std::string value = DocumentValue(bytes, kDocument);
    const auto document = ReadDocument(bytes, value, vector);
    ASSERT_THAT(document, IsOk());
    EXPECT_EQ(document->key, key);
    EXPECT_EQ(document->title, kDocument.title);
    EXPECT_EQ(document->payload, kDocument.payload);
    EXPECT_EQ(document->model, kDocument.model);
    EXPECT_EQ(vector, kVector);
    EXPECT_EQ(document->packed_tags, kDocument.packed_tags);
  }
}

// As it lies in stores from before there were tags.
TEST(DocumentRecordTest, WithoutTagsItIsTheBytesOfEarlierVersions) {
  const std::string key = DocumentKeyBytes("a");
  StoredDocument untagged = {"a", "t", "p", "m", kVector};
  const std::string value = DocumentValue(key, untagged);
  EXPECT_EQ(value.size(), 8 + 4 * 4 + 3 + 3 * sizeof(float));
  std::vector<float> vector;
  const auto document = ReadDocument(key, value, vector);
  ASSERT_THAT(document, IsOk());
  EXPECT_EQ(document->packed_tags, "");
  EXPECT_EQ(vector, kVector);
}

TEST(DocumentRecordTest, CutOrChangedAtAnyByteItIsDataLossByItsKey) {
  const std::string key = DocumentKeyBytes(std::uint64_t{7});
  const std::string value = DocumentValue(key, kDocument);
  std::vector<float> vector;
  for (std::size_t i = 0; i < value.size(); ++i) {
    std::string changed = value;
    changed[i] = static_cast<char>(changed[i] ^ 0x80);
    for (const std::string& bad : {changed, value.substr(0, i)}) {
      const absl::Status status = ReadDocument(key, bad, vector).status();
      EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss)) << i;
      EXPECT_THAT(std::string(status.message()), HasSubstr("document 7"));
    }
  }
}

}  // namespace
}  // namespace semrank
