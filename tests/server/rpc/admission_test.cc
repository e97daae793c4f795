// One rule for every method: what does not fit beside the texts in flight is
// refused before its texts are looked at, with the time to come back.
#include <string>
#include <vector>

#include "semrank/v1/catalog_service.pb.h"
#include "semrank/v1/embedding_service.pb.h"
#include "semrank/v1/ranking_service.pb.h"
#include "server/rpc/call_data.h"
#include "tests/server/rpc/raw_stream.h"
#include "tests/server/rpc/rpc_server_fixture.h"
#include "tests/support/fake_caller.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

constexpr char kNoUtf8[] = "\xff";
constexpr int kRoom = 3;  // texts

// Requests of four texts or more, in the bad one of which a text is not UTF-8.
struct CalledMethod {
  std::string name;
  std::string bad_bytes;
  std::string good_bytes;
  bool streams = false;
  // What the bad one is without the limit; empty = the others are served.
  std::string reason = "INVALID_UTF8";
};

void PrintTo(const CalledMethod& method, std::ostream* out) {
  *out << method.name;
}

template <typename Message, typename Fill>
CalledMethod MakeMethod(const std::string& name, Fill fill,
                        const std::string& reason = "INVALID_UTF8") {
  Message bad, good;
  fill(bad, kNoUtf8);
  fill(good, "word");
  return {.name = name,
          .bad_bytes = bad.SerializeAsString(),
          .good_bytes = good.SerializeAsString(),
          .reason = reason};
}

template <typename Message, typename Fill>
CalledMethod MakeStream(const std::string& name, Fill fill,
                        const std::string& reason = "INVALID_UTF8") {
  CalledMethod method = MakeMethod<Message>(name, fill, reason);
  method.streams = true;
  return method;
}

void FillRank(v1::RankRequest& request, const char* text) {
  request.set_query("q");
  for (int i = 0; i < kRoom; ++i) request.add_titles(text);
}
void FillRankVectors(v1::RankRequest& request, const char* text) {
  request.set_query(text);
  request.set_vectors(std::string(16 * sizeof(float) * kRoom, '\0'));
}
template <typename Request>
void FillEmbed(Request& request, const char* text) {
  request.set_side(v1::SIDE_DOCUMENT);
  for (int i = 0; i <= kRoom; ++i) request.add_texts(text);
}
template <typename Request>
void FillPut(Request& request, const char* text) {
  for (int i = 0; i <= kRoom; ++i) {
    request.add_documents()->set_document_id(std::to_string(i));
  }
  request.mutable_documents(kRoom)->set_title(text);
}
template <typename Request>
void FillKeys(Request& request, const char* text) {
  for (int i = 0; i < kRoom; ++i) request.add_ids(i);
  request.add_document_ids(text);
}

std::vector<CalledMethod> Methods() {
  return {MakeMethod<v1::RankRequest>("RankingService/Rank", FillRank),
          MakeMethod<v1::RankRequest>("RankingService/Rank", FillRankVectors),
          MakeStream<v1::RankStreamRequest>(
              "RankingService/RankStream",
              [](v1::RankStreamRequest& request, const char* text) {
                request.set_request_number(7);
                FillRank(*request.mutable_request(), text);
              }),
          MakeMethod<v1::ExplainRequest>(
              "RankingService/Explain",
              [](v1::ExplainRequest& request, const char* text) {
                request.set_query("photo");
                request.set_title("editor");
                request.set_max_pooling_units(text == kNoUtf8 ? 1 : 2);
              },
              // Its words are counted, so a bad text is found before.
              ""),
          MakeMethod<v1::EmbedTextsRequest>("EmbeddingService/EmbedTexts",
                                            FillEmbed<v1::EmbedTextsRequest>),
          MakeStream<v1::EmbedTextsStreamRequest>(
              "EmbeddingService/EmbedTextsStream",
              FillEmbed<v1::EmbedTextsStreamRequest>, ""),
          MakeMethod<v1::PutDocumentsRequest>("CatalogService/PutDocuments",
                                              FillPut<v1::PutDocumentsRequest>),
          MakeStream<v1::PutDocumentsStreamRequest>(
              "CatalogService/PutDocumentsStream",
              FillPut<v1::PutDocumentsStreamRequest>),
          MakeMethod<v1::GetDocumentsRequest>(
              "CatalogService/GetDocuments", FillKeys<v1::GetDocumentsRequest>),
          MakeMethod<v1::DeleteDocumentsRequest>(
              "CatalogService/DeleteDocuments",
              FillKeys<v1::DeleteDocumentsRequest>),
          MakeMethod<v1::SearchDocumentsRequest>(
              "CatalogService/SearchDocuments",
              [](v1::SearchDocumentsRequest& request, const char* text) {
                request.set_query(text);
              })};
}

// What came of one message: the call's status, or the one in the answer.
struct Outcome {
  int code = 0;
  std::string reason;
  std::string pushback;  // of a RankStream: its RetryInfo
};

class RpcAdmissionTest : public RpcServerFixture,
                         public ::testing::WithParamInterface<CalledMethod> {
 protected:
  // Enough documents that a search of them takes five permits.
  void FillCatalog() {
    std::vector<NewDocument> documents(300, {.title = "a title"});
    std::uint64_t id = 0;
    for (NewDocument& document : documents) document.key = id++;
    PutState state;
    PutResult result;
    ASSERT_THAT(
        catalog_.writer.PutSlice(documents, FakeCaller(), state, result),
        IsOk());
  }
  Outcome Call(const std::string& bytes) {
    return GetParam().streams ? CallStream(bytes) : CallUnary(bytes);
  }

 private:
  static Outcome OutcomeOf(const grpc::Status& status,
                           const grpc::ClientContext& context) {
    const auto& trailers = context.GetServerTrailingMetadata();
    const auto pushback = trailers.find(kPushbackTrailer);
    return {.code = status.error_code(),
            .reason = ErrorInfoOf(status).reason(),
            .pushback = pushback == trailers.end()
                            ? ""
                            : std::string(pushback->second.data(),
                                          pushback->second.size())};
  }
  Outcome CallUnary(const std::string& bytes) {
    grpc::ClientContext context;
    return OutcomeOf(CallRaw(GetParam().name, bytes, context), context);
  }
  Outcome CallStream(const std::string& bytes) {
    RawStream stream(channel_, GetParam().name);
    stream.Write(bytes);
    stream.HalfClose();
    std::string answer;
    v1::RankStreamResponse ranked;
    while (stream.Read(answer)) {
      if (GetParam().name.ends_with("/RankStream")) {
        EXPECT_TRUE(ranked.ParseFromString(answer));
        EXPECT_EQ(ranked.request_number(), 7u);
      }
    }
    const grpc::Status status = stream.Finish();
    if (!ranked.has_status()) return OutcomeOf(status, stream.context());
    google::rpc::RetryInfo retry;
    const bool has_retry = ranked.status().details_size() > 1 &&
                           ranked.status().details(1).UnpackTo(&retry);
    return {.code = ranked.status().code(),
            .reason = ErrorInfoOf(ranked.status()).reason(),
            .pushback = has_retry ? std::to_string(retry.retry_delay().nanos() /
                                                   1'000'000)
                                  : ""};
  }
};

TEST_P(RpcAdmissionTest, WhatDoesNotFitIsRefusedBeforeItsTextsAreLookedAt) {
  FillCatalog();
  const std::string& bytes = GetParam().bad_bytes;
  {
    const auto permit = admission_.Admit(kLimits.max_inflight_texts - kRoom);
    const Outcome refused = Call(bytes);
    EXPECT_EQ(refused.code, kExhausted);
    EXPECT_EQ(refused.reason, "OVERLOADED");
    EXPECT_EQ(refused.pushback, "100");
    EXPECT_EQ(Rejected("OVERLOADED"), 1);
    EXPECT_EQ(admission_.inflight_texts(), kLimits.max_inflight_texts - kRoom);
  }
  EXPECT_EQ(Call(bytes).reason, GetParam().reason);
}

TEST_P(RpcAdmissionTest, WhatFitsIsServedAndItsTextsGivenBack) {
  FillCatalog();
  const Outcome served = Call(GetParam().good_bytes);
  EXPECT_EQ(served.code, 0) << served.reason;
  EXPECT_EQ(admission_.inflight_texts(), 0);
  EXPECT_GT(admission_.high_water_mark(), kRoom);
}

TEST_P(RpcAdmissionTest, WithoutRoomForATextTheBytesAreNotLookedAt) {
  if (GetParam().name.ends_with("/RankStream")) {
    GTEST_SKIP() << "its refusal repeats the request's number";
  }
  const auto permit = admission_.Admit(kLimits.max_inflight_texts);
  EXPECT_EQ(Call("\xff").reason, "OVERLOADED");  // else MALFORMED_MESSAGE
  EXPECT_THAT(CallRaw("ModelService/GetLimits", ""), Succeeds());
}

INSTANTIATE_TEST_SUITE_P(Methods, RpcAdmissionTest,
                         ::testing::ValuesIn(Methods()), [](const auto& test) {
                           const std::string& name = test.param.name;
                           return std::to_string(test.index) +
                                  name.substr(name.find('/') + 1);
                         });

}  // namespace
}  // namespace semrank
