#include "server/requests/request_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>

#include "semrank/v1/embedding_service.pb.h"
#include "semrank/v1/ranking_service.pb.h"
#include "server/base/errors.h"
#include "server/requests/message_parser.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Room is made for so many, no more is said by it.
constexpr std::size_t kNumTexts = 2;

v1::RankRequest FullRankRequest() {
  v1::RankRequest request;
  request.set_query("edit photos");
  request.add_titles("one");
  request.add_titles("");
  request.add_titles("three");
  request.set_vectors("12345678");
  request.set_top_k(std::numeric_limits<std::uint32_t>::max());
  request.set_min_score(-0.25);
  request.mutable_model()->set_name("shop");
  request.mutable_model()->set_version(3);
  request.set_with_titles(true);
  return request;
}

void ExpectSame(v1::RankRequest want, const RankMessage& got) {
  want.DiscardUnknownFields();
  EXPECT_EQ(got.input.query, want.query());
  EXPECT_TRUE(std::ranges::equal(got.input.titles, want.titles()));
  EXPECT_EQ(got.input.vectors, want.vectors());
  EXPECT_EQ(got.input.top_k, want.top_k());
  EXPECT_EQ(got.input.min_score.has_value(), want.has_min_score());
  EXPECT_EQ(got.input.min_score.value_or(0), want.min_score());
  EXPECT_EQ(got.model.SerializeAsString(), want.model().SerializeAsString());
  EXPECT_EQ(got.with_titles, want.with_titles());
}

absl::Status ReadRank(const std::string& bytes) {
  RankMessage message;
  return ReadRankRequest(bytes, kNumTexts, message);
}

absl::Status ReadEmbed(const v1::EmbedTextsRequest& request) {
  EmbedMessage message;
  return ReadEmbedTextsRequest(request.SerializeAsString(), kNumTexts, message);
}

TEST(RequestReaderTest, ReadsEveryFieldOfARankRequest) {
  const std::string bytes = FullRankRequest().SerializeAsString();
  RankMessage message;
  ASSERT_THAT(ReadRankRequest(bytes, kNumTexts, message), IsOk());
  ExpectSame(FullRankRequest(), message);
}

TEST(RequestReaderTest, AnEmptyMessageIsAllDefaults) {
  RankMessage message;
  ASSERT_THAT(ReadRankRequest("", kNumTexts, message), IsOk());
  ExpectSame(v1::RankRequest(), message);
}

TEST(RequestReaderTest, LaterValuesWinAndModelsMergeAsInProtobuf) {
  v1::RankRequest second;
  second.set_query("other");
  second.mutable_model()->set_version(9);
  const std::string bytes =
      FullRankRequest().SerializeAsString() + second.SerializeAsString();
  v1::RankRequest want;
  ASSERT_TRUE(want.ParseFromString(bytes));
  RankMessage message;
  ASSERT_THAT(ReadRankRequest(bytes, kNumTexts, message), IsOk());
  ExpectSame(want, message);
}

// Whatever Protobuf takes is taken with the same meaning, and nothing else but
// strings that are not UTF-8, which the engine refuses by name.
TEST(RequestReaderTest, AgreesWithProtobufOnDamagedMessages) {
  const std::string good = FullRankRequest().SerializeAsString();
  CatchProtobufLog();
  std::mt19937 random(11);
  int num_refused = 0;
  for (int i = 0; i < 50'000; ++i) {
    std::string bytes = good.substr(0, random() % (good.size() + 1));
    for (std::uint32_t flips = random() % 3; flips > 0 && !bytes.empty();
         --flips) {
      bytes[random() % bytes.size()] = static_cast<char>(random() % 128);
    }
    v1::RankRequest want;
    const absl::Status parse = ParseMessage(bytes, want);
    const bool parsed = parse.ok();
    if (ErrorReason(parse) == "INVALID_UTF8" || want.ids_size() > 0 ||
        want.document_ids_size() > 0) {
      continue;
    }
    RankMessage message;
    const absl::Status status = ReadRankRequest(bytes, kNumTexts, message);
    ASSERT_EQ(status.ok(), parsed) << status << testing::PrintToString(bytes);
    if (parsed) {
      ExpectSame(want, message);
    } else {
      EXPECT_EQ(ErrorReason(status), "MALFORMED_MESSAGE");
      ++num_refused;
    }
  }
  EXPECT_GT(num_refused, 1000);
}

TEST(RequestReaderTest, UnknownFieldsAreSkipped) {
  std::string bytes = FullRankRequest().SerializeAsString();
  bytes += "\xa0\x06\x01";                 // field 100, varint
  bytes += "\xa3\x06\xa4\x06";             // field 100, an empty group
  bytes += std::string("\xaa\x06\x02hi");  // field 101, bytes
  EXPECT_THAT(ReadRank(bytes), IsOk());
}

TEST(RequestReaderTest, DeepGroupsEndInAnErrorAndNotInTheStack) {
  EXPECT_EQ(ErrorReason(ReadRank(std::string(1'000'000, '\xa3'))),
            "MALFORMED_MESSAGE");
  std::string nested;
  for (int i = 0; i < 100'000; ++i) nested += "\xa3\x06";
  EXPECT_EQ(ErrorReason(ReadRank(nested)), "MALFORMED_MESSAGE");
}

TEST(RequestReaderTest, ReadsIdsPackedAndOneByOne) {
  v1::RankRequest request;
  request.add_ids(7);
  request.add_ids(0x0102030405060708);
  request.add_document_ids("gimp");
  std::string bytes = request.SerializeAsString();
  bytes += std::string("\x19\x09\0\0\0\0\0\0\0", 9);  // ids: 9, not packed
  RankMessage message;
  ASSERT_THAT(ReadRankRequest(bytes, kNumTexts, message), IsOk());
  EXPECT_THAT(message.input.ids, ElementsAre(7, 0x0102030405060708, 9));
  EXPECT_THAT(message.input.document_ids, ElementsAre("gimp"));
}

TEST(RequestReaderTest, IdsMustBeWhole) {
  EXPECT_EQ(ErrorReason(ReadRank(std::string("\x1a\x07\0\0\0\0\0\0\0", 9))),
            "MALFORMED_MESSAGE");
}

TEST(RequestReaderTest, ReadsEveryFieldOfAnEmbedTextsRequest) {
  v1::EmbedTextsRequest request;
  request.set_side(v1::SIDE_QUERY);
  request.add_texts("a");
  request.add_texts("b");
  request.set_encoding(v1::VECTOR_ENCODING_INT8);
  request.mutable_model()->set_name("shop");
  const std::string bytes = request.SerializeAsString();
  EmbedMessage message;
  ASSERT_THAT(ReadEmbedTextsRequest(bytes, kNumTexts, message), IsOk());
  EXPECT_EQ(message.input.side, Side::kQuery);
  EXPECT_THAT(message.texts, ElementsAre("a", "b"));
  EXPECT_EQ(message.settings.encoding, v1::VECTOR_ENCODING_INT8);
  EXPECT_EQ(message.settings.model.name(), "shop");
}

TEST(RequestReaderTest, UnspecifiedEncodingIsFloat32) {
  v1::EmbedTextsRequest request;
  request.set_side(v1::SIDE_DOCUMENT);
  EmbedMessage message;
  ASSERT_THAT(
      ReadEmbedTextsRequest(request.SerializeAsString(), kNumTexts, message),
      IsOk());
  EXPECT_EQ(message.settings.encoding, v1::VECTOR_ENCODING_FLOAT32);
}

TEST(RequestReaderTest, MissingAndUnknownEnumValuesAreNamed) {
  v1::EmbedTextsRequest request;
  EXPECT_THAT(ReadEmbed(request), StatusIs(absl::StatusCode::kInvalidArgument,
                                           HasSubstr("side: is not set")));
  request.set_side(static_cast<v1::Side>(9));
  EXPECT_THAT(ReadEmbed(request), StatusIs(absl::StatusCode::kInvalidArgument,
                                           HasSubstr("side: 9")));
  request.set_side(v1::SIDE_QUERY);
  request.set_encoding(static_cast<v1::VectorEncoding>(-1));
  EXPECT_THAT(ReadEmbed(request), StatusIs(absl::StatusCode::kInvalidArgument,
                                           HasSubstr("encoding: -1")));
}

}  // namespace
}  // namespace semrank
