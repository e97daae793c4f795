// Who gets in: certificates and keys, on a real port.
#include <atomic>
#include <thread>

#include "grpc/health/v1/health.grpc.pb.h"
#include "semrank/v1/catalog_service.grpc.pb.h"
#include "semrank/v1/model_service.grpc.pb.h"
#include "semrank/v1/ranking_service.grpc.pb.h"
#include "server/rpc/health_server.h"
#include "tests/server/rpc/raw_stream.h"
#include "tests/server/rpc/rpc_server_fixture.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test_certificates.h"

namespace semrank {
namespace {

using ::grpc::StatusCode;
using ::grpc::health::v1::Health;
using ::grpc::health::v1::HealthCheckResponse;

grpc::Status CheckHealth(const std::shared_ptr<grpc::Channel>& channel) {
  grpc::ClientContext context;
  HealthCheckResponse response;
  return Health::NewStub(channel)->Check(&context, {}, &response);
}

// SHA-256 of "reader-key" and "admin-key".
constexpr char kKeys[] =
    "read ec4408df15da46b328f6f3246fa723d0aa6cb0f0a0dd9c4626080ab1b02aa3b2\n"
    "admin 69a5265506c94c77b787a7d7377b7685a0eff82e33920a71e7ee22cd6154953e\n";

class ApiKeyTest : public RpcServerFixture {
 protected:
  ApiKeyTest() {
    access_ = control_.get();
    server_ = StartServer("127.0.0.1:0").value();
    channel_ = NewChannel();
  }
  static void SetKey(const std::string& key, grpc::ClientContext& context) {
    if (!key.empty()) context.AddMetadata("authorization", "Bearer " + key);
  }
  grpc::Status Rank(const std::string& key) {
    grpc::ClientContext context;
    SetKey(key, context);
    v1::RankRequest request;
    request.set_query("q");
    request.add_titles("a title");
    v1::RankResponse response;
    return v1::RankingService::NewStub(channel_)->Rank(&context, request,
                                                       &response);
  }
  grpc::Status Reload(const std::string& key) {
    grpc::ClientContext context;
    SetKey(key, context);
    v1::ReloadModelResponse response;
    return v1::ModelService::NewStub(channel_)->ReloadModel(&context, {},
                                                            &response);
  }

  const TempDir dir_;
  const std::unique_ptr<AccessControl> control_ =
      AccessControl::FromFile(dir_.Write("keys", kKeys)).value();
};

TEST_F(ApiKeyTest, EachCallNeedsAKeyWithItsRole) {
  EXPECT_THAT(Rank("reader-key"), Succeeds());
  EXPECT_THAT(Rank("admin-key"), Succeeds());
  EXPECT_THAT(Rank(""), FailsWith(StatusCode::UNAUTHENTICATED, "MISSING_KEY"));
  EXPECT_THAT(Rank("guess"),
              FailsWith(StatusCode::UNAUTHENTICATED, "UNKNOWN_KEY"));
  EXPECT_THAT(Reload("reader-key"),
              FailsWith(StatusCode::PERMISSION_DENIED, "ROLE_REQUIRED"));
  EXPECT_THAT(Reload("admin-key"), Succeeds());
  EXPECT_EQ(Rejected("MISSING_KEY"), 1);
  EXPECT_EQ(Handled("RankingService", "Rank", "Unauthenticated"), 2);
}

TEST_F(ApiKeyTest, StreamsNeedOneToo) {
  grpc::ClientContext context;
  const auto stream =
      v1::RankingService::NewStub(channel_)->RankStream(&context);
  EXPECT_THAT(stream->Finish(),
              FailsWith(StatusCode::UNAUTHENTICATED, "MISSING_KEY"));
}

TEST_F(ApiKeyTest, ChangingTheCatalogNeedsTheWriteRole) {
  const auto stub = v1::CatalogService::NewStub(channel_);
  grpc::ClientContext put, remove, put_stream, search;
  for (grpc::ClientContext* context : {&put, &remove, &put_stream, &search}) {
    SetKey("reader-key", *context);
  }
  v1::PutDocumentsResponse put_response;
  EXPECT_THAT(stub->PutDocuments(&put, {}, &put_response),
              FailsWith(StatusCode::PERMISSION_DENIED, "ROLE_REQUIRED"));
  v1::DeleteDocumentsResponse delete_response;
  EXPECT_THAT(stub->DeleteDocuments(&remove, {}, &delete_response),
              FailsWith(StatusCode::PERMISSION_DENIED, "ROLE_REQUIRED"));
  EXPECT_THAT(stub->PutDocumentsStream(&put_stream)->Finish(),
              FailsWith(StatusCode::PERMISSION_DENIED, "ROLE_REQUIRED"));
  v1::SearchDocumentsRequest query;
  query.set_query("q");
  v1::SearchDocumentsResponse search_response;
  EXPECT_THAT(stub->SearchDocuments(&search, query, &search_response),
              Succeeds());
}

TEST_F(ApiKeyTest, TheMessageIsNotLookedAtWithoutAKey) {
  EXPECT_THAT(CallRaw("RankingService/Rank", "\xff\xff"),
              FailsWith(StatusCode::UNAUTHENTICATED, "MISSING_KEY"));
}

TEST_F(ApiKeyTest, HealthAndReflectionNeedNone) {
  EXPECT_THAT(CheckHealth(channel_), Succeeds());
  const grpc::Slice list_services("\x3a\x00", 2);  // field 7: ""
  const grpc::ByteBuffer request(&list_services, 1);
  grpc::ByteBuffer response;
  grpc::ClientContext context;
  std::promise<grpc::Status> done;
  grpc::GenericStub(channel_).UnaryCall(
      &context,
      "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", {},
      &request, &response,
      [&](grpc::Status status) { done.set_value(std::move(status)); });
  EXPECT_THAT(done.get_future().get(), Succeeds());
  EXPECT_GT(response.Length(), 0u);
}

class TlsTest : public RpcServerFixture {
 protected:
  // `client_ca` empty = clients show no certificate.
  void Serve(const std::string& client_ca) {
    certificates_.Make("server");
    tls_files_ =
        TlsCertificates::FromFiles({certificates_.Cert("server"),
                                    certificates_.Key("server"), client_ca})
            .value();
    tls_ = tls_files_.get();
    server_ = StartServer("127.0.0.1:0").value();
  }
  // A connection of its own; `client` names a certificate, empty = none.
  std::shared_ptr<grpc::Channel> Connect(const std::string& client = "") const {
    grpc::SslCredentialsOptions options;
    options.pem_root_certs = TestCertificates::Content(certificates_.ca());
    if (!client.empty()) {
      options.pem_cert_chain =
          TestCertificates::Content(certificates_.Cert(client));
      options.pem_private_key =
          TestCertificates::Content(certificates_.Key(client));
    }
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel(server_->address(),
                                     grpc::SslCredentials(options), arguments);
  }
  ~TlsTest() override { server_.reset(); }

  const TestCertificates certificates_;
  std::unique_ptr<TlsCertificates> tls_files_;
};

TEST_F(TlsTest, SpeaksTlsOnly) {
  Serve("");
  EXPECT_THAT(CheckHealth(Connect()), Succeeds());
  EXPECT_EQ(CheckHealth(NewChannel()).error_code(), StatusCode::UNAVAILABLE);
}

TEST_F(TlsTest, WithAClientCaOnlyItsClientsGetIn) {
  Serve(certificates_.ca());
  certificates_.Make("client");
  EXPECT_THAT(CheckHealth(Connect("client")), Succeeds());
  EXPECT_EQ(CheckHealth(Connect()).error_code(), StatusCode::UNAVAILABLE);

  const auto probes = HealthServer::Start("127.0.0.1:0", lifecycle_).value();
  const auto probe = grpc::CreateChannel(probes->address(),
                                         grpc::InsecureChannelCredentials());
  EXPECT_THAT(CheckHealth(probe), Succeeds());
  grpc::ClientContext context;
  v1::RankResponse response;
  EXPECT_EQ(v1::RankingService::NewStub(probe)
                ->Rank(&context, {}, &response)
                .error_code(),
            StatusCode::UNIMPLEMENTED);
}

TEST_F(TlsTest, AHalfReplacedPairLeavesTheOldOneInForce) {
  Serve("");
  certificates_.Make("other");
  std::filesystem::rename(certificates_.Key("other"),
                          certificates_.Key("server"));
  EXPECT_THAT(tls_files_->Refresh(),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(CheckHealth(Connect()), Succeeds());
  std::filesystem::rename(certificates_.Cert("other"),
                          certificates_.Cert("server"));
  EXPECT_EQ(tls_files_->Refresh().value(), true);
  EXPECT_THAT(CheckHealth(Connect()), Succeeds());
}

TEST_F(TlsTest, CertificatesAreReplacedUnderCallsAndNoneFails) {
  Serve("");
  const auto peer = [&] {
    const auto channel = Connect();
    grpc::ClientContext context;
    HealthCheckResponse response;
    EXPECT_THAT(Health::NewStub(channel)->Check(&context, {}, &response),
                Succeeds());
    const auto names =
        context.auth_context()->FindPropertyValues("x509_pem_cert");
    return names.empty() ? "" : std::string(names[0].data(), names[0].size());
  };
  std::atomic<bool> stop = false;
  std::atomic<int> num_calls = 0, num_failed = 0;
  std::thread old_connection([&] {
    const auto channel = Connect();
    while (!stop) {
      if (!CheckHealth(channel).ok()) ++num_failed;
      ++num_calls;
    }
  });
  std::thread new_connections([&] {
    while (!stop) {
      if (!CheckHealth(Connect()).ok()) ++num_failed;
      ++num_calls;
    }
  });
  std::string before = peer();
  for (int i = 0; i < 5; ++i) {
    certificates_.Make("server");
    ASSERT_EQ(tls_files_->Refresh().value(), true);
    const std::string after = peer();
    EXPECT_NE(after, before);
    before = after;
    const int target = num_calls + 5;
    while (num_calls < target) std::this_thread::yield();
  }
  stop = true;
  old_connection.join();
  new_connections.join();
  EXPECT_EQ(num_failed, 0);
}

class IdentityTest : public RpcServerFixture {};

TEST_F(IdentityTest, RequestIdAndTraceComeBackInTrailers) {
  const std::string trace =
      "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  grpc::ClientContext context;
  context.AddMetadata("x-request-id", "order-7");
  context.AddMetadata("traceparent", trace);
  v1::RankResponse response;
  EXPECT_FALSE(v1::RankingService::NewStub(channel_)
                   ->Rank(&context, {}, &response)
                   .ok());
  const auto& trailers = context.GetServerTrailingMetadata();
  ASSERT_EQ(trailers.count("x-request-id"), 1u);
  EXPECT_EQ(trailers.find("x-request-id")->second, "order-7");
  ASSERT_EQ(trailers.count("traceparent"), 1u);
  EXPECT_EQ(trailers.find("traceparent")->second, trace);
  ASSERT_EQ(request_log_.failures().size(), 1u);
  EXPECT_EQ(request_log_.failures()[0].request_id, "order-7");
  EXPECT_EQ(request_log_.failures()[0].method,
            "semrank.v1.RankingService/Rank");
}

TEST_F(IdentityTest, ABugIsToldWithTheRequestThatFailed) {
  folder_.Put(2, absl::InternalError("broken"));
  grpc::ClientContext context;
  context.AddMetadata("x-request-id", "order-7");
  v1::ReloadModelRequest request;
  request.mutable_model()->set_version(2);
  EXPECT_EQ(
      CallRaw("ModelService/ReloadModel", request.SerializeAsString(), context)
          .error_code(),
      grpc::StatusCode::INTERNAL);
  EXPECT_EQ(bugs_, std::vector<std::string>{"order-7"});
}

TEST_F(IdentityTest, AStreamThatFailsIsRememberedWithItsRequestId) {
  RawStream stream(channel_, "EmbeddingService/EmbedTextsStream", "filler");
  stream.Write("\xff");
  EXPECT_FALSE(stream.Finish().ok());
  ASSERT_EQ(request_log_.failures().size(), 1u);
  const auto& trailers = stream.context().GetServerTrailingMetadata();
  ASSERT_EQ(trailers.count("x-request-id"), 1u);
  const grpc::string_ref id = trailers.find("x-request-id")->second;
  EXPECT_EQ(request_log_.failures()[0].request_id,
            std::string(id.data(), id.size()));
}

TEST_F(IdentityTest, ARequestOfAStreamIsRememberedWithItsNumber) {
  grpc::ClientContext context;
  context.AddMetadata("x-request-id", "batch-3");
  const auto stream =
      v1::RankingService::NewStub(channel_)->RankStream(&context);
  v1::RankStreamRequest request;
  request.set_request_number(41);
  request.mutable_request();  // without a query
  v1::RankStreamResponse response;
  ASSERT_TRUE(stream->Write(request) && stream->Read(&response));
  ASSERT_EQ(request_log_.failures().size(), 1u);
  const RequestLog::Failure failure = request_log_.failures()[0];
  EXPECT_EQ(failure.method, "semrank.v1.RankingService/RankStream");
  EXPECT_EQ(failure.request_id, "batch-3");
  EXPECT_EQ(failure.number, 41u);
  stream->WritesDone();
  EXPECT_THAT(stream->Finish(), Succeeds());
  EXPECT_EQ(request_log_.failures().size(), 1u);
}

}  // namespace
}  // namespace semrank
