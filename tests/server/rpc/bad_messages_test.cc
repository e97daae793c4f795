// What every method answers to bytes that a well-behaved client never sends.
#include "tests/server/rpc/raw_stream.h"
#include "tests/server/rpc/rpc_server_fixture.h"

namespace semrank {
namespace {

struct BadCall {
  std::string_view name;  // may be followed by " of" and what is bad
  bool streams;
  // A message whose text is not UTF-8; empty: the method takes no text.
  std::string_view bad_text;
  // How that is answered: by the call's status, or the stream continues.
  bool bad_text_fails = true;
};

void PrintTo(const BadCall& method, std::ostream* out) { *out << method.name; }

class BadMessageTest : public RpcServerFixture,
                       public ::testing::WithParamInterface<BadCall> {
 protected:
  BadMessageTest()
      : method_(GetParam().name.substr(0, GetParam().name.find(' '))) {}

  // Sends one message and returns the status of the whole call; `filler` goes
  // into its metadata.
  grpc::Status Call(const std::string& bytes, const std::string& filler = "") {
    if (!GetParam().streams) {
      grpc::ClientContext context;
      if (!filler.empty()) context.AddMetadata("x-filler", filler);
      const grpc::Status status = CallRaw(method_, bytes, context);
      has_request_id_ = HasRequestId(context);
      return status;
    }
    RawStream stream(channel_, method_, filler);
    stream.Write(bytes);
    stream.HalfClose();
    std::string answer;
    while (stream.Read(answer)) {
    }
    const grpc::Status status = stream.Finish();
    has_request_id_ = HasRequestId(stream.context());
    return status;
  }

  double HandledAs(const std::string& code) const {
    const std::size_t slash = method_.find('/');
    return Handled(method_.substr(0, slash), method_.substr(slash + 1), code,
                   GetParam().streams ? "bidi_stream" : "unary");
  }

  double Started() const {
    const std::size_t slash = method_.find('/');
    return Metric("grpc_server_started_total{grpc_method=\"" +
                  method_.substr(slash + 1) + "\",grpc_service=\"semrank.v1." +
                  method_.substr(0, slash) + "\",grpc_type=\"" +
                  (GetParam().streams ? "bidi_stream" : "unary") + "\"}");
  }

  const std::string method_;
  bool has_request_id_ = false;  // the last answer

 private:
  static bool HasRequestId(const grpc::ClientContext& context) {
    return context.GetServerTrailingMetadata().count("x-request-id") == 1;
  }
};

TEST_P(BadMessageTest, MalformedIsInvalidArgument) {
  for (const char* bytes : {"\xff", "\x0a\x7f", "\x0b"}) {
    EXPECT_THAT(Call(bytes), FailsWith(kInvalid, "MALFORMED_MESSAGE"));
  }
}

TEST_P(BadMessageTest, TextThatIsNotUtf8IsInvalidArgument) {
  if (GetParam().bad_text.empty()) GTEST_SKIP() << "takes no text";
  const grpc::Status status = Call(std::string(GetParam().bad_text));
  if (GetParam().bad_text_fails) {
    EXPECT_THAT(status, FailsWith(kInvalid, "INVALID_UTF8"));
  } else {
    EXPECT_THAT(status, Succeeds());  // said of the item: tests of the stream
  }
}

TEST_P(BadMessageTest, OversizedIsRefusedByNameAndTheServerGoesOn) {
  const std::size_t limit = MaxRequestBytes(kLimits);
  const grpc::Status status = Call(std::string(limit + 1, 'x'));
  EXPECT_THAT(status, FailsWith(kExhausted, "MESSAGE_TOO_LARGE"));
  const auto values = ErrorInfoOf(status).metadata();
  EXPECT_EQ(values.at("value"), std::to_string(limit + 1));
  EXPECT_EQ(values.at("limit"), std::to_string(limit));
  EXPECT_TRUE(has_request_id_);
  EXPECT_EQ(HandledAs("ResourceExhausted"), 1);
  EXPECT_EQ(HandledAs("OK"), 0);
  EXPECT_EQ(Rejected("MESSAGE_TOO_LARGE"), 1);
  EXPECT_THAT(Call("\xff"), FailsWith(kInvalid, "MALFORMED_MESSAGE"));
}

TEST_P(BadMessageTest, OversizedMetadataAreRefusedByName) {
  const std::string filler(kLimits.max_metadata_bytes + 1, 'x');
  const grpc::Status status = Call("", filler);
  EXPECT_THAT(status, FailsWith(kExhausted, "METADATA_TOO_LARGE"));
  EXPECT_EQ(ErrorInfoOf(status).metadata().at("flag"), "max_metadata_bytes");
  EXPECT_TRUE(has_request_id_);
  EXPECT_EQ(HandledAs("ResourceExhausted"), 1);
  EXPECT_EQ(Started(), 1);
  // gRPC itself refuses far more, before the method begins. gRPC 1.51 closes
  // the connection then, and a client that is still writing may see the broken
  // connection before the refusal.
  const double started = Started();
  EXPECT_THAT(Call("", filler + filler).error_code(),
              ::testing::AnyOf(kExhausted, grpc::StatusCode::UNAVAILABLE));
  EXPECT_EQ(Started(), started);
}

TEST_P(BadMessageTest, NothingOfItReachesStandardError) {
  testing::internal::CaptureStderr();
  for (int i = 0; i < 20; ++i) {
    Call("\xff\xff");
    if (!GetParam().bad_text.empty()) Call(std::string(GetParam().bad_text));
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

INSTANTIATE_TEST_SUITE_P(
    Methods, BadMessageTest,
    ::testing::Values(
        BadCall{"RankingService/Rank", false, "\x0a\x01\xff\x12\x01t"},
        BadCall{"RankingService/RankStream", true,
                "\x08\x05\x12\x06\x0a\x01\xff\x12\x01t", false},
        BadCall{"RankingService/Rank of DocumentId", false,
                "\x0a\x01q\x22\x02\xff\xfe"},
        BadCall{"RankingService/RankStream of DocumentId", true,
                "\x08\x05\x12\x07\x0a\x01q\x22\x02\xff\xfe", false},
        BadCall{"RankingService/Rank of ModelName", false,
                "\x0a\x01q\x12\x01t\x42\x03\x0a\x01\xff"},
        BadCall{"RankingService/RankStream of ModelName", true,
                "\x08\x05\x12\x0b\x0a\x01q\x12\x01t\x42\x03\x0a\x01\xff",
                false},
        BadCall{"RankingService/Explain", false, "\x0a\x01q\x12\x01\xff"},
        BadCall{"EmbeddingService/EmbedTexts", false, "\x08\x01\x12\x01\xff"},
        BadCall{"EmbeddingService/EmbedTexts of ModelName", false,
                "\x08\x01\x12\x01t\x22\x03\x0a\x01\xff"},
        BadCall{"EmbeddingService/EmbedTextsStream of ModelName", true,
                "\x08\x01\x12\x01t\x22\x03\x0a\x01\xff"},
        BadCall{"EmbeddingService/EmbedTextsStream", true,
                "\x08\x01\x12\x01\xff", false},
        BadCall{"CatalogService/PutDocuments", false, "\x0a\x03\x12\x01\xff"},
        BadCall{"CatalogService/PutDocumentsStream", true,
                "\x0a\x03\x12\x01\xff"},
        BadCall{"CatalogService/GetDocuments", false, "\x12\x01\xff"},
        BadCall{"CatalogService/DeleteDocuments", false, "\x12\x01\xff"},
        BadCall{"CatalogService/SearchDocuments", false, "\x0a\x01\xff"},
        BadCall{"ModelService/GetModel", false, "\x0a\x03\x0a\x01\xff"},
        BadCall{"ModelService/ResolveModel", false, "\x0a\x03\x0a\x01\xff"},
        BadCall{"ModelService/ListModels", false, "\x0a\x01\xff"},
        BadCall{"ModelService/ReloadModel", false, "\x0a\x03\x0a\x01\xff"},
        BadCall{"ModelService/GetLimits", false, ""}),
    [](const auto& test) {
      std::string name(test.param.name);
      std::erase(name, ' ');
      return name.substr(name.find('/') + 1);
    });

}  // namespace
}  // namespace semrank
