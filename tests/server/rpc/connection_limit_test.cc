// The limit on connections before a whole gRPC server.
#include <thread>
#include <vector>

#include "semrank/v1/ranking_service.grpc.pb.h"
#include "server/rpc/health_server.h"
#include "tests/server/rpc/rpc_server_fixture.h"
#include "tests/support/plain_client.h"
#include "tests/support/test_certificates.h"

namespace semrank {
namespace {

// In plain text and over TLS.
class ConnectionLimitTest : public RpcServerFixture,
                            public ::testing::WithParamInterface<bool> {
 protected:
  static constexpr Limits kThreeConnections = {.max_connections = 3,
                                               .max_share_per_caller = 1};

  ConnectionLimitTest() : RpcServerFixture(kThreeConnections) {
    if (!GetParam()) return;
    certificates_.Make("server");
    tls_files_ = TlsCertificates::FromFiles({certificates_.Cert("server"),
                                             certificates_.Key("server")})
                     .value();
    tls_ = tls_files_.get();
  }
  ~ConnectionLimitTest() override { server_.reset(); }

  void Serve() { server_ = StartServer("127.0.0.1:0").value(); }
  // A connection of its own.
  std::shared_ptr<grpc::Channel> Connect() const {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
    arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 50);
    grpc::SslCredentialsOptions tls;
    tls.pem_root_certs = TestCertificates::Content(certificates_.ca());
    return grpc::CreateCustomChannel(server_->address(),
                                     GetParam()
                                         ? grpc::SslCredentials(tls)
                                         : grpc::InsecureChannelCredentials(),
                                     arguments);
  }
  static grpc::Status Rank(const std::shared_ptr<grpc::Channel>& channel,
                           bool wait_for_ready = false) {
    grpc::ClientContext context;
    context.set_wait_for_ready(wait_for_ready);
    v1::RankRequest request;
    request.set_query("q");
    request.add_titles("a title");
    v1::RankResponse response;
    return v1::RankingService::NewStub(channel)->Rank(&context, request,
                                                      &response);
  }

  const TestCertificates certificates_;
  std::unique_ptr<TlsCertificates> tls_files_;
};

TEST_P(ConnectionLimitTest, OneTooManyIsUnavailableAndTheOthersAreServed) {
  Serve();
  std::vector<std::shared_ptr<grpc::Channel>> channels;
  for (int i = 0; i < 3; ++i) {
    channels.push_back(Connect());
    EXPECT_THAT(Rank(channels.back()), Succeeds());
  }
  EXPECT_EQ(Rank(Connect()).error_code(), grpc::StatusCode::UNAVAILABLE);
  for (const auto& channel : channels) EXPECT_THAT(Rank(channel), Succeeds());
  EXPECT_EQ(Metric("semrank_open_connections"), 3);
  EXPECT_EQ(Metric("semrank_connections_limit"), 3);
  EXPECT_GE(Metric("semrank_connections_refused_total"), 1);
  EXPECT_EQ(Metric("semrank_accept_failures_total"), 0);

  channels.pop_back();
  while (connections_.num_open() == 3) std::this_thread::yield();
  EXPECT_THAT(Rank(Connect()), Succeeds());
}

TEST_P(ConnectionLimitTest, SilentConnectionsKeepNobodyOutForLong) {
  handshake_timeout_ = absl::Milliseconds(500);
  Serve();
  std::vector<PlainClient> silent(500);
  for (PlainClient& client : silent) {
    ASSERT_TRUE(client.Connect(server_->address()));
  }
  EXPECT_THAT(Rank(Connect(), /*wait_for_ready=*/true), Succeeds());
  // gRPC closes those that came in, the listener the others.
  for (PlainClient& client : silent) {
    while (client.Read() != '\0') {
    }
  }
}

TEST_P(ConnectionLimitTest, ProbesThatOnlyConnectLeaveNothingBehind) {
  Serve();
  for (int i = 0; i < 100; ++i) {
    PlainClient client(server_->address());
    if (i % 2 == 0) client.Reset();
  }
  while (connections_.num_open() > 0) std::this_thread::yield();
  EXPECT_THAT(Rank(Connect(), /*wait_for_ready=*/true), Succeeds());
}

TEST_P(ConnectionLimitTest, OldConnectionsAreClosedAndCallsGoOn) {
  max_connection_age_ = absl::Milliseconds(50);
  Serve();
  const auto channel = Connect();
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(Rank(channel), Succeeds());
    while (connections_.num_open() > 0) std::this_thread::yield();
  }
  EXPECT_EQ(Metric("semrank_connections_refused_total"), 0);
}

TEST_P(ConnectionLimitTest, CallsOfAnOldConnectionEndInPeace) {
  max_connection_age_ = absl::Milliseconds(50);
  Serve();
  gate_.Close();
  const auto channel = Connect();
  grpc::Status status;
  std::thread call([&] { status = Rank(channel); });
  gate_.WaitForArrival();
  // GOAWAY: the channel has no connection for new calls.
  while (channel->GetState(false) == GRPC_CHANNEL_READY) {
    std::this_thread::yield();
  }
  gate_.Open();
  call.join();
  EXPECT_THAT(status, Succeeds());
}

TEST_P(ConnectionLimitTest, AStopEndsEveryConnection) {
  Serve();
  const auto channel = Connect();
  EXPECT_THAT(Rank(channel), Succeeds());
  server_.reset();
  EXPECT_EQ(connections_.num_open(), 0);
  EXPECT_EQ(Rank(channel).error_code(), grpc::StatusCode::UNAVAILABLE);
}

INSTANTIATE_TEST_SUITE_P(Ports, ConnectionLimitTest, ::testing::Bool(),
                         [](const auto& test) {
                           return test.param ? "Tls" : "PlainText";
                         });

class PortsTest : public RpcServerFixture {};

TEST_F(PortsTest, ProbesOfHealthHavePlacesOfTheirOwn) {
  const auto health = HealthServer::Start("127.0.0.1:0", lifecycle_).value();
  std::vector<PlainClient> probes(HealthServer::kMaxConnections);
  for (PlainClient& probe : probes) {
    ASSERT_TRUE(probe.Connect(health->address()));
  }
  EXPECT_EQ(PlainClient(health->address()).Read(), '\0');
  EXPECT_EQ(connections_.num_open(), 0);
}

TEST_F(PortsTest, AnIpv6AddressIsServed) {
  auto server = StartServer("[::1]:0");
  if (!server.ok()) GTEST_SKIP() << server.status();
  server_ = *std::move(server);
  channel_ = NewChannel();
  EXPECT_THAT(CallRaw("ModelService/GetLimits", ""), Succeeds());
}

}  // namespace
}  // namespace semrank
