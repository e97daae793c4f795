// A whole gRPC server in the test's own process, on a free port, with a tiny
// model whose document tower a test can stop.
#ifndef SEMRANK_TESTS_SERVER_RPC_RPC_SERVER_FIXTURE_H_
#define SEMRANK_TESTS_SERVER_RPC_RPC_SERVER_FIXTURE_H_

#include <gmock/gmock.h>
#include <grpcpp/channel.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/status.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "server/requests/request_run.h"
#include "tests/support/gated_model.h"
#include "tests/support/test_server.h"

namespace semrank {

inline constexpr auto kInvalid = grpc::StatusCode::INVALID_ARGUMENT;
inline constexpr auto kExhausted = grpc::StatusCode::RESOURCE_EXHAUSTED;
// Texts of a request that is not answered on gRPC's own thread.
inline constexpr int kLarge = RequestRun::kMaxInlineTexts + 1;

// The one ErrorInfo of a failed call; empty when there is none or more.
inline google::rpc::ErrorInfo ErrorInfoOf(const google::rpc::Status& status) {
  google::rpc::ErrorInfo info, found;
  int count = 0;
  for (const auto& detail : status.details()) {
    if (detail.UnpackTo(&info) && ++count == 1) found = info;
  }
  return count == 1 ? found : google::rpc::ErrorInfo();
}
inline google::rpc::ErrorInfo ErrorInfoOf(const grpc::Status& status) {
  google::rpc::Status details;
  details.ParseFromString(status.error_details());
  return ErrorInfoOf(details);
}

class RpcServerFixture : public ::testing::Test {
 protected:
  static constexpr Limits kLimits = {.max_texts_per_request = 3'000,
                                     .max_text_bytes = 100,
                                     .max_inflight_texts = 5'000,
                                     .max_requests_per_stream = 4,
                                     .max_top_k = 50,
                                     // All clients have one address.
                                     .max_share_per_caller = 1};

  // `events` is the folder of --events; empty = none.
  explicit RpcServerFixture(const Limits& limits = kLimits,
                            const std::string& events = "")
      : whole_(MakeTestServer(folder_, MakeGatedModel(&gate_),
                              Options(limits, events), Substitutes())) {
    ExpectSmallCallsToBeCheap();
    auto server = StartServer("127.0.0.1:0");
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    channel_ = NewChannel();
  }
  // A test that failed may have left a request at the gate.
  ~RpcServerFixture() override { gate_.Open(); }

  absl::StatusOr<std::unique_ptr<RpcServer>> StartServer(
      const std::string& address) {
    ServerParts parts = whole_->parts();
    parts.access = access_;
    parts.admin_rpcs = admin_rpcs_;
    if (unread_ != nullptr) parts.unread = unread_;
    if (shadow_ != nullptr) parts.shadow = shadow_;
    if (own_log_ != nullptr) parts.request_log = own_log_;
    return RpcServer::Start({.listen_address = address,
                             .tls = tls_,
                             .handshake_timeout = handshake_timeout_,
                             .max_connection_age = max_connection_age_,
                             .max_memory_bytes = max_memory_bytes_,
                             .send_timeout = send_timeout_},
                            parts);
  }
  // As a server that has answered some: a call that a busy machine delays must
  // not send the next ones to workers that a test has stopped.
  void ExpectSmallCallsToBeCheap() {
    for (std::size_t kind = 0; kind < kNumRequestKinds; ++kind) {
      for (const int num_texts : {1, 2, 4, 8}) {
        admission_.costs().Record(static_cast<RequestKind>(kind), num_texts,
                                  absl::Nanoseconds(num_texts));
      }
    }
  }
  // Lets the catalog answer with the model that is current.
  void FollowModel() {
    EXPECT_TRUE(
        catalog_.update.Follow([this] { return models_.current(); }).ok());
  }
  std::shared_ptr<grpc::Channel> NewChannel() const {
    return grpc::CreateChannel(server_->address(),
                               grpc::InsecureChannelCredentials());
  }

  // Sends these bytes, whatever they are, to "semrank.v1.<method>".
  grpc::Status CallRaw(const std::string& method, const std::string& bytes) {
    grpc::ClientContext context;
    return CallRaw(method, bytes, context);
  }
  // The context may bring metadata, and is there to look at the trailers.
  grpc::Status CallRaw(const std::string& method, const std::string& bytes,
                       grpc::ClientContext& context) {
    const grpc::Slice slice(bytes);
    const grpc::ByteBuffer request(&slice, 1);
    grpc::ByteBuffer response;
    std::promise<grpc::Status> done;
    grpc::GenericStub(channel_).UnaryCall(
        &context, "/semrank.v1." + method, {}, &request, &response,
        [&](grpc::Status status) { done.set_value(std::move(status)); });
    return done.get_future().get();
  }

  // The value of the metric whose line begins with `series`; -1 = none.
  double Metric(const std::string& series) const {
    const std::string text = "\n" + metrics_.Render();
    const std::size_t at = text.find("\n" + series + " ");
    if (at == std::string::npos) return -1;
    return std::strtod(text.c_str() + at + series.size() + 2, nullptr);
  }
  double Rejected(const std::string& reason) const {
    return Metric("semrank_requests_rejected_total{reason=\"" + reason + "\"}");
  }
  double Handled(const std::string& service, const std::string& method,
                 const std::string& code,
                 const std::string& type = "unary") const {
    return Metric("grpc_server_handled_total{grpc_code=\"" + code +
                  "\",grpc_method=\"" + method +
                  "\",grpc_service=\"semrank.v1." + service +
                  "\",grpc_type=\"" + type + "\"}");
  }

  static ServerOptions Options(const Limits& limits,
                               const std::string& events) {
    ServerOptions options;
    options.limits = limits;
    if (!events.empty()) {
      options.events.destination = EventFiles::Options{.folder = events};
    }
    options.max_catalog_documents = 100'000;
    return options;
  }
  ServerSubstitutes Substitutes() {
    ServerSubstitutes substitutes;
    substitutes.workers.now = [this] { return queue_time_.load(); };
    substitutes.log_request = [this](RequestLog::Reason reason,
                                     const auto& request, auto) {
      if (reason != RequestLog::Reason::kBug) return;
      bugs_.push_back(request.identity.request_id);
    };
    return substitutes;
  }

  Gate gate_;
  MemoryFolder folder_;
  // Request ids of calls that failed by a bug; to be looked at after the call.
  std::vector<std::string> bugs_;
  // The workers' clock stands still unless a test sets it.
  std::atomic<TaskQueue::Clock::time_point> queue_time_{};
  const std::unique_ptr<Server> whole_;
  Metrics& metrics_ = *whole_->parts().metrics;
  Lifecycle& lifecycle_ = whole_->lifecycle();
  Admission& admission_ = *whole_->parts().admission;
  ModelStore& models_ = *whole_->parts().models;
  SyncedCatalog& catalog_ = whole_->catalog();
  RequestLog& request_log_ = *whole_->parts().request_log;
  WorkerPool& workers_ = *whole_->parts().workers;
  ConnectionCount& connections_ = *whole_->parts().connections;
  // For servers that a test starts itself.
  absl::Duration handshake_timeout_ = kHandshakeTimeout;
  absl::Duration max_connection_age_ = kMaxConnectionAge;
  std::int64_t max_memory_bytes_ = 0;
  UnreadResponses* unread_ = nullptr;
  ShadowRanker* shadow_ = nullptr;
  RequestLog* own_log_ = nullptr;
  absl::Duration send_timeout_ = kSendTimeout;
  bool admin_rpcs_ = true;
  const AccessControl* access_ = nullptr;
  const TlsCertificates* tls_ = nullptr;
  std::unique_ptr<RpcServer> server_;
  std::shared_ptr<grpc::Channel> channel_;
};

MATCHER_P2(FailsWith, code, reason, "fails with this code and reason") {
  *result_listener << "code " << arg.error_code() << ", "
                   << ErrorInfoOf(arg).ShortDebugString() << ", \""
                   << arg.error_message() << "\"";
  return arg.error_code() == code && ErrorInfoOf(arg).reason() == reason &&
         ErrorInfoOf(arg).domain() == "semrank";
}

MATCHER(Succeeds, "is OK") {
  *result_listener << arg.error_code() << " \"" << arg.error_message() << "\"";
  return arg.ok();
}

}  // namespace semrank

#endif  // SEMRANK_TESTS_SERVER_RPC_RPC_SERVER_FIXTURE_H_
