#include <thread>

#include "semrank/v1/embedding_service.grpc.pb.h"
#include "tests/server/rpc/raw_stream.h"
#include "tests/server/rpc/rpc_server_fixture.h"

namespace semrank {
namespace {

constexpr std::size_t kRowBytes = 16 * sizeof(float);

class EmbedTextsStreamTest : public RpcServerFixture {
 protected:
  static v1::EmbedTextsStreamRequest Piece(
      const std::vector<std::string>& texts) {
    v1::EmbedTextsStreamRequest piece;
    piece.set_side(v1::SIDE_DOCUMENT);
    for (const std::string& text : texts) piece.add_texts(text);
    return piece;
  }
  static std::vector<std::string> Numbered(int first, int count) {
    std::vector<std::string> texts;
    for (int i = first; i < first + count; ++i) {
      texts.push_back("text " + std::to_string(i));
    }
    return texts;
  }
  bool Write(const v1::EmbedTextsStreamRequest& piece) {
    return stream_->Write(piece);
  }
  v1::EmbedTextsStreamResponse Read() {
    v1::EmbedTextsStreamResponse response;
    EXPECT_TRUE(stream_->Read(&response));
    return response;
  }
  grpc::Status Finish() {
    v1::EmbedTextsStreamResponse unexpected;
    EXPECT_FALSE(stream_->Read(&unexpected));
    return stream_->Finish();
  }
  // The status of a stream that begins well and continues with these bytes.
  grpc::Status FinishAfter(const std::string& bytes) {
    RawStream raw(channel_, "EmbeddingService/EmbedTextsStream");
    EXPECT_TRUE(raw.Write(Piece({"a"}).SerializeAsString()));
    std::string answer;
    EXPECT_TRUE(raw.Read(answer));
    EXPECT_TRUE(raw.Write(bytes));
    EXPECT_FALSE(raw.Read(answer));
    return raw.Finish();
  }

  std::unique_ptr<v1::EmbeddingService::Stub> stub_ =
      v1::EmbeddingService::NewStub(channel_);
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::EmbedTextsStreamRequest,
                                           v1::EmbedTextsStreamResponse>>
      stream_ = stub_->EmbedTextsStream(&context_);
};

TEST_F(EmbedTextsStreamTest, PiecesAreAnsweredInOrderWithWhatEmbedTextsGives) {
  ASSERT_TRUE(Write(Piece(Numbered(0, 3))));
  ASSERT_TRUE(Write(Piece({})));
  v1::EmbedTextsStreamRequest later;
  for (const std::string& text : Numbered(3, 2'000)) later.add_texts(text);
  ASSERT_TRUE(Write(later));
  stream_->WritesDone();

  const v1::EmbedTextsStreamResponse first = Read();
  EXPECT_EQ(first.first_text(), 0u);
  EXPECT_EQ(first.num_texts(), 3u);
  EXPECT_EQ(first.embedding_dim(), 16u);
  EXPECT_EQ(first.encoding(), v1::VECTOR_ENCODING_FLOAT32);
  EXPECT_EQ(first.model().version(), 1);
  EXPECT_EQ(first.cache_misses(), 3u);
  EXPECT_EQ(Read().num_texts(), 0u);
  const v1::EmbedTextsStreamResponse last = Read();
  EXPECT_EQ(last.first_text(), 3u);
  EXPECT_EQ(last.num_texts(), 2'000u);
  EXPECT_FALSE(last.has_model());
  EXPECT_THAT(Finish(), Succeeds());

  v1::EmbedTextsRequest request;
  request.set_side(v1::SIDE_DOCUMENT);
  for (const std::string& text : Numbered(0, 2'003)) request.add_texts(text);
  v1::EmbedTextsResponse all;
  grpc::ClientContext context;
  ASSERT_THAT(stub_->EmbedTexts(&context, request, &all), Succeeds());
  EXPECT_EQ(first.vectors() + last.vectors(), all.vectors());
}

TEST_F(EmbedTextsStreamTest, OneBadTextIsOneProblemAndTheStreamGoesOn) {
  ASSERT_TRUE(Write(Piece({"one", std::string(101, 'x'), "two"})));
  const v1::EmbedTextsStreamResponse response = Read();
  ASSERT_EQ(response.problems_size(), 1);
  EXPECT_EQ(response.problems(0).index(), 1u);
  EXPECT_EQ(ErrorInfoOf(response.problems(0).status()).reason(),
            "TEXT_TOO_LONG");
  EXPECT_EQ(response.vectors().substr(kRowBytes, kRowBytes),
            std::string(kRowBytes, '\0'));
  EXPECT_EQ(response.cache_misses(), 2u);
  ASSERT_TRUE(Write(Piece({"two"})));
  const v1::EmbedTextsStreamResponse next = Read();
  EXPECT_EQ(next.first_text(), 3u);
  EXPECT_EQ(next.vectors(), response.vectors().substr(2 * kRowBytes));
  stream_->WritesDone();
  EXPECT_THAT(Finish(), Succeeds());
}

TEST_F(EmbedTextsStreamTest, ATextThatIsNotUtf8IsAProblemToo) {
  RawStream raw(channel_, "EmbeddingService/EmbedTextsStream");
  ASSERT_TRUE(raw.Write("\x08\x02\x12\x01\xff\x12\x01t"));
  std::string bytes;
  ASSERT_TRUE(raw.Read(bytes));
  v1::EmbedTextsStreamResponse response;
  ASSERT_TRUE(response.ParseFromString(bytes));
  ASSERT_EQ(response.problems_size(), 1);
  EXPECT_EQ(ErrorInfoOf(response.problems(0).status()).reason(),
            "INVALID_UTF8");
  EXPECT_EQ(response.num_texts(), 2u);
}

TEST_F(EmbedTextsStreamTest, Int8HasAScaleForEachText) {
  v1::EmbedTextsStreamRequest piece = Piece({"one", "two"});
  piece.set_encoding(v1::VECTOR_ENCODING_INT8);
  ASSERT_TRUE(Write(piece));
  ASSERT_TRUE(Write(Piece({"three"})));
  EXPECT_EQ(Read().scales_size(), 2);
  const v1::EmbedTextsStreamResponse later = Read();
  EXPECT_EQ(later.encoding(), v1::VECTOR_ENCODING_INT8);
  EXPECT_EQ(later.vectors().size(), 16u);
}

TEST_F(EmbedTextsStreamTest, WhatTheFirstMessageFixesMayBeRepeatedOnly) {
  v1::EmbedTextsStreamRequest piece = Piece({"t"});
  piece.mutable_model()->set_name("tiny");
  piece.mutable_model()->set_version(1);
  piece.set_encoding(v1::VECTOR_ENCODING_FLOAT32);
  ASSERT_TRUE(Write(Piece({"t"})));
  ASSERT_TRUE(Write(piece));
  EXPECT_EQ(Read().num_texts(), 1u);
  EXPECT_EQ(Read().num_texts(), 1u);

  v1::EmbedTextsStreamRequest side, encoding, model;
  side.set_side(v1::SIDE_QUERY);
  encoding.set_encoding(v1::VECTOR_ENCODING_INT8);
  model.mutable_model()->set_version(2);
  for (const auto& bad : {side, encoding, model}) {
    EXPECT_THAT(FinishAfter(bad.SerializeAsString()),
                FailsWith(kInvalid, "INVALID_FIELD"));
  }
}

TEST_F(EmbedTextsStreamTest, TheStreamNeverEndsSilently) {
  EXPECT_THAT(FinishAfter("\xff"), FailsWith(kInvalid, "MALFORMED_MESSAGE"));
  EXPECT_THAT(FinishAfter(Piece(Numbered(0, 3'001)).SerializeAsString()),
              FailsWith(kInvalid, "TOO_MANY_TEXTS"));
  v1::EmbedTextsStreamRequest piece = Piece({"t"});
  piece.clear_side();
  ASSERT_TRUE(Write(piece));
  EXPECT_THAT(Finish(), FailsWith(kInvalid, "INVALID_FIELD"));
  piece = Piece({"t"});
  piece.mutable_model()->set_name("other");
  grpc::ClientContext context;
  const auto stream = stub_->EmbedTextsStream(&context);
  ASSERT_TRUE(stream->Write(piece));
  EXPECT_THAT(stream->Finish(),
              FailsWith(grpc::StatusCode::NOT_FOUND, "MODEL_NOT_FOUND"));
}

TEST_F(EmbedTextsStreamTest, OverloadEndsItWithPushbackAfterWhatWasAnswered) {
  gate_.Close();
  ASSERT_TRUE(Write(Piece(Numbered(0, 3'000))));
  gate_.WaitForArrival();
  grpc::ClientContext context;
  const auto other = stub_->EmbedTextsStream(&context);
  ASSERT_TRUE(other->Write(Piece(Numbered(3'000, 2'500))));
  EXPECT_THAT(other->Finish(),
              FailsWith(grpc::StatusCode::RESOURCE_EXHAUSTED, "OVERLOADED"));
  EXPECT_EQ(context.GetServerTrailingMetadata().count("grpc-retry-pushback-ms"),
            1u);
  gate_.Open();
  EXPECT_EQ(Read().num_texts(), 3'000u);
  stream_->WritesDone();
  EXPECT_THAT(Finish(), Succeeds());
}

// The client reads no responses: the server stops reading instead of keeping
// them.
TEST_F(EmbedTextsStreamTest, ReadsOnOnlyAsTheClientTakesTheAnswers) {
  constexpr int kMessages = 200;  // 200 x 1,500 texts x 64 bytes = 19 MB
  RawStream raw(channel_, "EmbeddingService/EmbedTextsStream");
  const std::string piece = Piece(Numbered(0, 1'500)).SerializeAsString();
  std::thread writer([&] {
    for (int i = 0; i < kMessages; ++i) ASSERT_TRUE(raw.Write(piece));
    raw.HalfClose();
  });
  const auto received = [&] {
    return Metric(
        "grpc_server_msg_received_total{grpc_method=\"EmbedTextsStream\","
        "grpc_service=\"semrank.v1.EmbeddingService\",grpc_type=\"bidi_stream"
        "\"}");
  };
  while (received() < 10) std::this_thread::yield();
  std::string bytes;
  for (int i = 0; i < kMessages; ++i) {
    // Read so far, waiting in the server, and in flight in HTTP/2 windows.
    EXPECT_LT(received(), i + 120);
    ASSERT_TRUE(raw.Read(bytes));
  }
  EXPECT_FALSE(raw.Read(bytes));
  writer.join();
  EXPECT_THAT(raw.Finish(), Succeeds());
}

// Only the first response names the model to the client.
TEST_F(EmbedTextsStreamTest, TheLogNamesTheModelOfEachMessage) {
  context_.TryCancel();
  stream_->Finish();
  std::vector<std::string> models;
  RequestLog log({.access_share = 1}, [&](auto, const auto& outcome, auto) {
    models.push_back(outcome.details().model);
  });
  own_log_ = &log;
  server_ = StartServer("127.0.0.1:0").value();
  grpc::ClientContext context;
  stub_ = v1::EmbeddingService::NewStub(NewChannel());
  stream_ = stub_->EmbedTextsStream(&context);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(Write(Piece({"t"})));
    Read();
  }
  EXPECT_THAT(models, ::testing::ElementsAre("tiny/1", "tiny/1"));
  stream_->WritesDone();
  EXPECT_THAT(Finish(), Succeeds());
  server_.reset();  // It uses `log`.
  stream_.reset();  // Before its context.
}

}  // namespace
}  // namespace semrank
