#include "server/requests/text_count.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "server/base/errors.h"
#include "server/requests/message_parser.h"
#include "tests/server/requests/text_count_cases.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

// A request message and the table by which it is counted.
template <typename M, const MessageTexts& kTable>
struct Counted {
  using Message = M;
  static const MessageTexts& texts() { return kTable; }
};

template <typename Case>
class TextCountTest : public ::testing::Test {
 protected:
  using Message = typename Case::Message;

  // What Protobuf takes is counted as it is after parsing.
  void ExpectAgreement(const std::string& bytes) {
    Message message;
    const absl::Status parsed = ParseMessage(bytes, message);
    TextCount count;
    const absl::Status counted = CountTexts(bytes, Case::texts(), count);
    if (!parsed.ok()) return;
    ASSERT_THAT(counted, IsOk());
    EXPECT_EQ(count.num_bytes, bytes.size());
    ExpectSameCount(count, CountOf(message));
    ++num_compared_;
  }
  std::string RandomBytes() {
    Message message;
    FillRandomly(random_, message);
    return message.SerializeAsString();
  }

  std::mt19937 random_{3};
  int num_compared_ = 0;
};

using Cases =
    ::testing::Types<Counted<v1::RankRequest, kRankTexts>,
                     Counted<v1::RankStreamRequest, kRankStreamTexts>,
                     Counted<v1::ExplainRequest, kExplainTexts>,
                     Counted<v1::EmbedTextsRequest, kEmbedTexts>,
                     Counted<v1::EmbedTextsStreamRequest, kEmbedStreamTexts>,
                     Counted<v1::PutDocumentsRequest, kPutTexts>,
                     Counted<v1::PutDocumentsStreamRequest, kPutStreamTexts>,
                     Counted<v1::GetDocumentsRequest, kGetTexts>,
                     Counted<v1::DeleteDocumentsRequest, kDeleteTexts>,
                     Counted<v1::SearchDocumentsRequest, kSearchTexts>>;
TYPED_TEST_SUITE(TextCountTest, Cases);

TYPED_TEST(TextCountTest, AgreesWithProtobufOnRandomMessages) {
  for (int i = 0; i < 500; ++i) this->ExpectAgreement(this->RandomBytes());
  EXPECT_EQ(this->num_compared_, 500);
}

// Joined, messages are merged.
TYPED_TEST(TextCountTest, AgreesWithProtobufOnMergedMessages) {
  for (int i = 0; i < 500; ++i) {
    this->ExpectAgreement(this->RandomBytes() + this->RandomBytes());
  }
  EXPECT_EQ(this->num_compared_, 500);
}

// Other types, other fields, numbers one by one, lengths that do not fit.
TYPED_TEST(TextCountTest, AgreesWithProtobufOnDamagedMessages) {
  CatchProtobufLog();
  for (int i = 0; i < 3'000; ++i) {
    std::string bytes = this->RandomBytes();
    for (std::uint32_t n = this->random_() % 3; n > 0 && !bytes.empty(); --n) {
      bytes[this->random_() % std::min<std::size_t>(bytes.size(), 40)] =
          static_cast<char>(this->random_() % 128);
    }
    this->ExpectAgreement(bytes);
  }
  EXPECT_GT(this->num_compared_, 500);
}

TYPED_TEST(TextCountTest, WhatIsNoMessageIsMalformed) {
  for (const char* bytes : {"\xff", "\x0a\x7f", "\x0b"}) {
    TextCount count;
    EXPECT_EQ(ErrorReason(CountTexts(bytes, TypeParam::texts(), count)),
              "MALFORMED_MESSAGE");
  }
}

absl::Status CheckRank(const v1::RankRequest& request) {
  TextCount count;
  EXPECT_THAT(CountTexts(request.SerializeAsString(), kRankTexts, count),
              IsOk());
  return CheckNumItems(count, kRankTexts, 100);
}

TEST(CheckNumItemsTest, TitlesAndIdsAreLimitedTogether) {
  v1::RankRequest request;
  for (int i = 0; i < 50; ++i) request.add_ids(i);
  for (int i = 0; i < 50; ++i) request.add_document_ids("d");
  EXPECT_THAT(CheckRank(request), IsOk());
  request.add_ids(50);
  const absl::Status status = CheckRank(request);
  EXPECT_EQ(ErrorReason(status), "TOO_MANY_TEXTS");
  EXPECT_EQ(ErrorValues(status)["value"], "101");
  EXPECT_EQ(ErrorValues(status)["limit"], "100");
  EXPECT_EQ(ErrorValues(status)["field"], "ids");
}

TEST(CheckNumItemsTest, TheFieldIsNamedInTheRequestOfAStreamToo) {
  v1::RankStreamRequest request;
  for (int i = 0; i < 2; ++i) request.mutable_request()->add_titles("t");
  TextCount count;
  ASSERT_THAT(CountTexts(request.SerializeAsString(), kRankStreamTexts, count),
              IsOk());
  EXPECT_EQ(ErrorValues(CheckNumItems(count, kRankStreamTexts, 1))["field"],
            "titles");
}

TEST(CheckNumItemsTest, PackedIdsMustBeWhole) {
  TextCount count;
  EXPECT_EQ(ErrorReason(CountTexts(std::string("\x1a\x07\0\0\0\0\0\0\0", 9),
                                   kRankTexts, count)),
            "MALFORMED_MESSAGE");
}

}  // namespace
}  // namespace semrank
