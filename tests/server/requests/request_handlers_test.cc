
#include <gmock/gmock.h>
#include <google/protobuf/stubs/logging.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "semrank/v1/catalog_service.pb.h"
#include "semrank/v1/embedding_service.pb.h"
#include "semrank/v1/ranking_service.pb.h"
#include "server/base/errors.h"
#include "server/requests/embed_handler.h"
#include "server/requests/handlers.h"
#include "server/requests/methods.h"
#include "server/requests/rank_handler.h"
#include "server/requests/wire_reader.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t kMaxTexts = 1'000;

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
  request.set_name_match(true);
  request.mutable_impression()->set_session("s-1");
  request.mutable_impression()->set_user("ann");
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
  EXPECT_EQ(got.model.name, want.model().name());
  EXPECT_EQ(got.model.version, want.model().version());
  EXPECT_EQ(got.with_titles, want.with_titles());
  EXPECT_EQ(got.impression.is_wanted, want.has_impression());
  EXPECT_EQ(got.impression.names.session, want.impression().session());
  EXPECT_EQ(got.impression.names.user, want.impression().user());
  EXPECT_EQ(got.input.name_match, want.name_match());
  EXPECT_TRUE(std::ranges::equal(got.input.ids, want.ids()));
  EXPECT_TRUE(std::ranges::equal(got.input.document_ids, want.document_ids()));
}

bool HasBadUtf8(const RankMessage& message) {
  std::vector<std::string_view> texts = message.titles;
  texts.insert(texts.end(), message.document_ids.begin(),
               message.document_ids.end());
  texts.push_back(message.input.query);
  texts.push_back(message.model.name);
  texts.push_back(message.impression.names.session);
  texts.push_back(message.impression.names.user);
  return !std::ranges::all_of(texts, [](std::string_view text) {
    return CheckUtf8("text", text).ok();
  });
}

absl::Status ReadRank(const std::string& bytes) {
  RankMessage message;
  return ReadRankRequest(bytes, kMaxTexts, message);
}

absl::Status ReadEmbed(const v1::EmbedTextsRequest& request) {
  EmbedMessage message;
  return ReadEmbedRequest(request.SerializeAsString(), kMaxTexts,
                          *v1::EmbedTextsRequest::descriptor(), message);
}

TEST(RequestReaderTest, ReadsEveryFieldOfARankRequest) {
  const std::string bytes = FullRankRequest().SerializeAsString();
  RankMessage message;
  ASSERT_THAT(ReadRankRequest(bytes, kMaxTexts, message), IsOk());
  ExpectSame(FullRankRequest(), message);
}

// Else a small message would cost a copy of the list for each of its items.
TEST(RequestReaderTest, IdsInManyPackedListsGrowOneListSeldom) {
  std::string bytes;
  for (int id = 0; id < kMaxTexts; ++id) {
    v1::RankRequest one;
    one.add_ids(static_cast<std::uint64_t>(id));
    bytes += one.SerializeAsString();
  }
  std::vector<std::uint64_t> ids;
  int num_growths = 0;
  WireReader reader(bytes);
  while (reader.Next()) {
    const std::size_t before = ids.capacity();
    reader.Append(ids);
    if (ids.capacity() != before) ++num_growths;
  }
  EXPECT_EQ(ids.size(), static_cast<std::size_t>(kMaxTexts));
  EXPECT_EQ(ids.back(), static_cast<std::uint64_t>(kMaxTexts - 1));
  EXPECT_LT(num_growths, 20);
}

TEST(RequestReaderTest, AnEmptyMessageIsAllDefaults) {
  RankMessage message;
  ASSERT_THAT(ReadRankRequest("", kMaxTexts, message), IsOk());
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
  ASSERT_THAT(ReadRankRequest(bytes, kMaxTexts, message), IsOk());
  ExpectSame(want, message);
}

// The reader takes what Protobuf takes, with the same meaning, and nothing else
// but strings that are not UTF-8, which are refused by name later.
TEST(RequestReaderTest, AgreesWithProtobufOnDamagedMessages) {
  v1::RankRequest full = FullRankRequest();
  for (std::uint64_t id : {7, 8, 9}) full.add_ids(id);
  full.add_document_ids("gimp");
  const std::string good = full.SerializeAsString();
  // Protobuf would print a line for each.
  google::protobuf::LogHandler* const log =
      google::protobuf::SetLogHandler(nullptr);
  std::mt19937 random(11);
  int num_refused = 0;
  for (int i = 0; i < 50'000; ++i) {
    std::string bytes = good.substr(0, random() % (good.size() + 1));
    for (std::uint32_t flips = random() % 3; flips > 0 && !bytes.empty();
         --flips) {
      bytes[random() % bytes.size()] = static_cast<char>(random() % 128);
    }
    v1::RankRequest want;
    const bool parsed = want.ParseFromString(bytes);
    RankMessage message;
    const absl::Status status = ReadRankRequest(bytes, kMaxTexts, message);
    if (!parsed && status.ok() && HasBadUtf8(message)) continue;
    ASSERT_EQ(status.ok(), parsed) << status << testing::PrintToString(bytes);
    if (parsed) {
      ExpectSame(want, message);
    } else {
      EXPECT_EQ(ErrorReason(status), "MALFORMED_MESSAGE");
      ++num_refused;
    }
  }
  google::protobuf::SetLogHandler(log);
  EXPECT_GT(num_refused, 1000);
}

TEST(RequestReaderTest, TooManyTextsAreCountedAndNotKept) {
  v1::RankRequest request;
  for (int i = 0; i < 50; ++i) request.add_ids(i);
  for (int i = 0; i < 51; ++i) request.add_document_ids("d");
  const std::string bytes = request.SerializeAsString();
  RankMessage message;
  const absl::Status status = ReadRankRequest(bytes, 100, message);
  EXPECT_EQ(ErrorReason(status), "TOO_MANY_TEXTS");
  EXPECT_EQ(ErrorValues(status)["value"], "101");
  EXPECT_EQ(ErrorValues(status)["limit"], "100");
  EXPECT_EQ(ErrorValues(status)["field"], "ids");
  EXPECT_EQ(message.ids.size() + message.document_ids.size(), 100u);
  RankMessage enough;
  EXPECT_THAT(ReadRankRequest(bytes, 101, enough), IsOk());
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
  ASSERT_THAT(ReadRankRequest(bytes, kMaxTexts, message), IsOk());
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
  ASSERT_THAT(ReadEmbedRequest(bytes, kMaxTexts,
                               *v1::EmbedTextsRequest::descriptor(), message),
              IsOk());
  EXPECT_EQ(message.side, v1::SIDE_QUERY);
  EXPECT_THAT(message.texts, ElementsAre("a", "b"));
  EXPECT_EQ(message.encoding, v1::VECTOR_ENCODING_INT8);
  EXPECT_EQ(message.model.name, "shop");
}

TEST(RequestReaderTest, UnknownEnumValuesAreNamed) {
  v1::EmbedTextsRequest request;
  request.set_side(static_cast<v1::Side>(9));
  EXPECT_THAT(ReadEmbed(request), StatusIs(absl::StatusCode::kInvalidArgument,
                                           HasSubstr("side: 9")));
  request.set_side(v1::SIDE_QUERY);
  request.set_encoding(static_cast<v1::VectorEncoding>(-1));
  EXPECT_THAT(ReadEmbed(request), StatusIs(absl::StatusCode::kInvalidArgument,
                                           HasSubstr("encoding: -1")));
}

// Handlers that look at nothing but the limits before admission.
class RequestSizeTest : public ::testing::Test {
 protected:
  absl::StatusOr<RequestSize> Read(MakeHandler make_handler,
                                   const google::protobuf::Message& message) {
    return make_handler(parts_)->Read(message.SerializeAsString());
  }

  Metrics metrics_;
  const TextEmbedder embedder_{nullptr, &metrics_};
  static constexpr Limits kLimits = {.max_texts_per_request = 3};
  const RankingEngine ranking_{kLimits, &embedder_, &metrics_};
  const ServerParts parts_ = {.limits = kLimits, .ranking = &ranking_};
};

TEST_F(RequestSizeTest, EachDocumentAndEachKeyIsAText) {
  v1::PutDocumentsRequest put;
  put.add_documents()->set_title("a");
  put.add_documents();
  ASSERT_OK_AND_ASSIGN(const RequestSize documents,
                       Read(MakePutDocumentsHandler, put));
  EXPECT_EQ(documents.num_texts, 2);
  v1::DeleteDocumentsRequest keys;
  keys.add_ids(1);
  keys.add_ids(2);
  keys.add_document_ids("a");
  ASSERT_OK_AND_ASSIGN(const RequestSize all,
                       Read(MakeDeleteDocumentsHandler, keys));
  EXPECT_EQ(all.num_texts, 3);
  EXPECT_EQ(all.num_bytes, keys.ByteSizeLong());
}

TEST_F(RequestSizeTest, APutNormalisesTitlesAndNames) {
  v1::PutDocumentsRequest put;
  v1::Document& document = *put.add_documents();
  document.set_document_id("name");
  document.set_title("title");
  document.set_payload("payload");
  document.add_tags("tag");
  const std::string bytes = put.SerializeAsString();
  const auto handler = MakePutDocumentsHandler(parts_);
  ASSERT_THAT(handler->Read(bytes), IsOk());
  std::vector<std::string> texts;
  handler->EachText([&](std::string_view text) { texts.emplace_back(text); });
  EXPECT_THAT(texts, ElementsAre("title", "name"));
}

TEST_F(RequestSizeTest, OneTooManyIsRefusedByTheNameOfItsField) {
  v1::PutDocumentsRequest put;
  for (int i = 0; i < 4; ++i) put.add_documents();
  EXPECT_EQ(ErrorValues(Read(MakePutDocumentsHandler, put).status())["field"],
            "documents");
  v1::DeleteDocumentsRequest keys;
  for (int i = 0; i < 4; ++i) keys.add_document_ids("a");
  EXPECT_EQ(
      ErrorValues(Read(MakeDeleteDocumentsHandler, keys).status())["field"],
      "document_ids");
  v1::SearchDocumentsRequest search;
  for (int i = 0; i < 4; ++i) search.add_exclude_ids(i);
  EXPECT_EQ(
      ErrorValues(Read(MakeSearchDocumentsHandler, search).status())["field"],
      "exclude_ids");
  v1::RankStreamRequest rank;
  rank.set_request_number(5);
  for (int i = 0; i < 4; ++i) rank.mutable_request()->add_titles("t");
  const auto handler = MakeRankStream(parts_)();
  EXPECT_EQ(
      ErrorValues(handler->Read(rank.SerializeAsString()).status())["field"],
      "titles");
  EXPECT_EQ(handler->request_number(), 5u);
}

TEST_F(RequestSizeTest, ARefusedRequestOfAStreamIsKnownByItsNumber) {
  v1::RankStreamRequest rank;
  rank.mutable_request()->add_titles("t");
  rank.set_request_number(5);
  const std::string bytes = rank.SerializeAsString();
  const auto handler = MakeRankStream(parts_)();
  EXPECT_TRUE(handler->ReadForRefusal(bytes));
  EXPECT_EQ(handler->request_number(), 5u);
  EXPECT_FALSE(handler->ReadForRefusal(bytes.substr(0, bytes.size() - 1)));
}

TEST_F(RequestSizeTest, ARequestWithoutDocumentsIsRefused) {
  EXPECT_EQ(
      ErrorReason(
          Read(MakePutDocumentsHandler, v1::PutDocumentsRequest()).status()),
      "NO_DOCUMENTS");
  EXPECT_EQ(
      ErrorReason(Read(MakeDeleteDocumentsHandler, v1::DeleteDocumentsRequest())
                      .status()),
      "NO_DOCUMENTS");
}

}  // namespace
}  // namespace semrank
