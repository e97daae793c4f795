#include "server/rpc/services.h"

#include <grpcpp/impl/service_type.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>
#include <grpcpp/support/slice.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "model/base/status_macros.h"
#include "semrank/v1/catalog_service.grpc.pb.h"
#include "semrank/v1/embedding_service.grpc.pb.h"
#include "semrank/v1/event_service.grpc.pb.h"
#include "semrank/v1/model_service.grpc.pb.h"
#include "semrank/v1/ranking_service.grpc.pb.h"
#include "server/base/errors.h"
#include "server/base/request_log.h"
#include "server/requests/methods.h"
#include "server/requests/request_run.h"
#include "server/rpc/call_data.h"
#include "server/rpc/stream_call.h"

namespace semrank {
namespace {

using grpc::ByteBuffer;
using grpc::CallbackServerContext;
using grpc::ServerUnaryReactor;

// What a call costs in gRPC beside its messages.
constexpr std::size_t kCallBytes = 8'192;

// A call as gRPC transfers it. The pointers live until the call is finished.
struct RawCall {
  CallbackServerContext* context = nullptr;
  const ByteBuffer* request = nullptr;
  ByteBuffer* response = nullptr;
};

// One unary call from its bytes to its status. It uses gRPC's own reactor,
// which gRPC finishes without switching threads; OpenCalls notices when the
// client has the response.
class UnaryCall final : public RequestRun {
 public:
  UnaryCall(const Method& method, const ServerParts& parts, OpenCalls& calls,
            const Metrics::Rpc& rpc, const RawCall& raw)
      : RequestRun(method, parts, nullptr),
        calls_(calls),
        rpc_(rpc),
        raw_(raw),
        reactor_(raw.context->DefaultReactor()) {}

  // Runs the call, which deletes itself, perhaps before Begin returns. Returns
  // what the method must return.
  ServerUnaryReactor* Begin();

  absl::Time deadline() const override {
    return absl::FromChrono(raw_.context->deadline());
  }
  bool cancelled() const override { return raw_.context->IsCancelled(); }
  std::string_view name() const override {
    return OpenCalls::CallerOf(*raw_.context).name;
  }

 private:
  absl::Status CheckCall();
  absl::Status SerializeResponse(
      const google::protobuf::MessageLite& response) override {
    return Serialize(response, *parts().metrics, *raw_.response);
  }
  // Sends details and trailers, counts and logs the call, and deletes it.
  void Done(const absl::Status& status) override;

  OpenCalls& calls_;
  const Metrics::Rpc& rpc_;
  const RawCall raw_;
  ServerUnaryReactor* const reactor_;
  grpc::Slice bytes_;
};

ServerUnaryReactor* UnaryCall::Begin() {
  ServerUnaryReactor* const reactor = reactor_;
  rpc_.Started();
  const absl::Status status = CheckCall();
  status.ok() ? Start(ViewOf(bytes_)) : Refuse(status);
  return reactor;
}

// In the order of what a check costs. Nothing before ToSingleSlice touches the
// message, so a refused call is not even copied, and has no handler.
absl::Status UnaryCall::CheckCall() {
  SEMRANK_RETURN_IF_ERROR(calls_.Begin(*raw_.context));
  SEMRANK_RETURN_IF_ERROR(CheckMetadata(*raw_.context, method(), parts()));
  calls_.SetCaller(*raw_.context, parts().access);
  SEMRANK_RETURN_IF_ERROR(CheckUnread(
      method(), parts(), {raw_.request->Length(), TimeLeft(), name()}));
  if (method().refused_unread) SEMRANK_RETURN_IF_ERROR(calls_.CheckRoom());
  SEMRANK_RETURN_IF_ERROR(
      ToSingleSlice(*raw_.request, MaxRequestBytes(parts().limits), bytes_));
  SetHandler(method().make_handler(parts()));
  return absl::OkStatus();
}

void UnaryCall::Done(const absl::Status& status) {
  // The reactor and the context belong to gRPC; only the UnaryCall is our own.
  const std::unique_ptr<UnaryCall> self(this);
  const RequestIdentity identity = IdentityOf(*raw_.context);
  const grpc::Status final_status =
      FinalStatus(status, identity, *raw_.context);
  const absl::Duration time = TimeSinceReceived();
  rpc_.Handled(status.code(), time);
  if (parts().request_log != nullptr) {
    parts().request_log->Record(
        {.method = rpc_.name(),
         .identity = identity,
         .status = status,
         .time = time,
         .by_admin = method().role == Role::kAdmin,
         .details = [this] { return Describe(CallerOf(*raw_.context)); }});
  }
  // Releases a copy that ToSingleSlice made, before the client has read the
  // response. The message itself stays counted: gRPC keeps it as long.
  bytes_ = grpc::Slice();
  calls_.SetUnsentBytes(
      *raw_.context,
      static_cast<std::int64_t>(raw_.request->Length() +
                                raw_.response->Length() + kCallBytes));
  // A handler may use the server's parts until it is destroyed, and a server
  // that stops waits for calls only until Finish.
  SetHandler(nullptr);
  // From here on gRPC may destroy the context and the buffers.
  reactor_->Finish(final_status);
}

// One message of a stream. Deletes itself when the stream has its answer.
class StreamedRequest final : public RequestRun {
 public:
  // The message is number `place` of the stream, from 1.
  StreamedRequest(const Method& method, StreamCall& stream,
                  std::unique_ptr<RequestHandler> handler, std::uint64_t place,
                  grpc::Slice bytes)
      : RequestRun(method, stream.parts(), std::move(handler)),
        stream_(stream),
        place_(place),
        bytes_(std::move(bytes)) {}

  void Begin();

  absl::Time deadline() const override { return stream_.deadline(); }
  bool cancelled() const override { return stream_.cancelled(); }
  std::string_view name() const override { return stream_.name(); }

 private:
  absl::Status SerializeResponse(
      const google::protobuf::MessageLite& response) override {
    return Serialize(response, *parts().metrics, answer_);
  }
  void Done(const absl::Status& status) override;
  // Fills in the answer of a request that failed. An error ends the stream.
  absl::Status MakeAnswer(const absl::Status& status);

  StreamCall& stream_;
  const std::uint64_t place_;
  const grpc::Slice bytes_;
  ByteBuffer answer_;
};

void StreamedRequest::Begin() {
  absl::Status status =
      CheckUnread(method(), parts(), {bytes_.size(), TimeLeft(), name()});
  if (status.ok() && method().refused_unread) {
    status = stream_.calls().CheckRoom();
  }
  // A message that cannot be read is left to Start, which says what is wrong.
  if (!status.ok() && handler().ReadForRefusal(ViewOf(bytes_))) {
    return Refuse(status);
  }
  Start(ViewOf(bytes_));
}

absl::Status StreamedRequest::MakeAnswer(const absl::Status& status) {
  if (status.ok()) return absl::OkStatus();
  // The number of a malformed request is not known, or not to be believed.
  if (ErrorReason(status) == kMalformedReason ||
      !handler().SetFailure(status)) {
    return status;
  }
  return SerializeResponse(handler().response());
}

void StreamedRequest::Done(const absl::Status& status) {
  const std::unique_ptr<StreamedRequest> self(this);
  const absl::Status made = MakeAnswer(status);
  if (made.ok()) {
    stream_.Record({.number = handler().request_number().value_or(place_),
                    .status = status,
                    .time = TimeSinceReceived(),
                    .details = [this] { return Describe(stream_.caller()); }});
  }
  // After Answer or End the stream, and with it the server, may be gone.
  SetHandler(nullptr);
  made.ok() ? stream_.Answer(status, answer_) : stream_.End(made);
}

// A stream whose messages are requests of one method.
class RequestStream final : public StreamCall {
 public:
  RequestStream(const Method& method, const ServerParts& parts,
                OpenCalls& calls, const Metrics::Stream& metrics,
                CallbackServerContext& context)
      : StreamCall(method, parts, calls, metrics, context),
        make_handler_(method.make_stream(parts)) {}

 private:
  // The request owns itself.
  void Take(grpc::Slice bytes) override {
    auto* const request = new StreamedRequest(
        method(), *this, make_handler_(), ++num_messages_, std::move(bytes));
    request->Begin();
  }

  const StreamHandlers make_handler_;
  // Concurrent requests are taken by several threads.
  std::atomic<std::uint64_t> num_messages_ = 0;
};

// What the services below forward to.
class MethodCalls {
 public:
  // Counters exist before the first call, so their series begin at 0.
  MethodCalls(const ServerParts& parts, OpenCalls& calls)
      : parts_(parts), calls_(calls) {
    for (std::size_t i = 0; i < kNumMethods; ++i) {
      const Method& method = kMethods[i];
      if (method.is_stream()) {
        metrics_[i] = parts.metrics->AddStream(method.service, method.name);
      } else {
        metrics_[i].rpc =
            parts.metrics->AddRpc(method.service, method.name, "unary");
      }
    }
  }

  ServerUnaryReactor* StartUnary(MethodId id, const RawCall& raw) const {
    auto* const call =
        new UnaryCall(MethodOf(id), parts_, calls_, MetricsOf(id).rpc, raw);
    return call->Begin();
  }
  RawStreamReactor* StartStream(MethodId id,
                                CallbackServerContext& context) const {
    // Begin may finish the stream already. That is safe before the method
    // returns: gRPC keeps operations back until it has bound the reactor.
    auto* const call =
        new RequestStream(MethodOf(id), parts_, calls_, MetricsOf(id), context);
    call->Begin();
    return call;
  }

 private:
  const Metrics::Stream& MetricsOf(MethodId id) const {
    return metrics_[static_cast<std::size_t>(id)];
  }

  // A copy, to which calls keep references; the services outlive them.
  const ServerParts parts_;
  OpenCalls& calls_;
  std::array<Metrics::Stream, kNumMethods> metrics_;
};

// A service of the generated code, all of whose methods are UNIMPLEMENTED.
template <typename Generated>
class BareService : public Generated::Service {
 protected:
  std::shared_ptr<const MethodCalls> calls_;
};

// Base with one method of the table. All methods are raw: gRPC 1.51 answers
// bytes that its own parser refuses with an empty UNIMPLEMENTED, on a stream
// with a silent end.
template <MethodId id, typename Base>
class WithMethod;

#define SEMRANK_UNARY(service_name, method_name, ...)                        \
  template <typename Base>                                                   \
  class WithMethod<MethodId::k##method_name, Base>                           \
      : public v1::service_name::WithRawCallbackMethod_##method_name<Base> { \
    ServerUnaryReactor* method_name(CallbackServerContext* context,          \
                                    const ByteBuffer* request,               \
                                    ByteBuffer* response) final {            \
      return this->calls_->StartUnary(MethodId::k##method_name,              \
                                      {context, request, response});         \
    }                                                                        \
  };
#define SEMRANK_STREAM(service_name, method_name, ...)                       \
  template <typename Base>                                                   \
  class WithMethod<MethodId::k##method_name, Base>                           \
      : public v1::service_name::WithRawCallbackMethod_##method_name<Base> { \
    RawStreamReactor* method_name(CallbackServerContext* context) final {    \
      return this->calls_->StartStream(MethodId::k##method_name, *context);  \
    }                                                                        \
  };
#include "server/requests/methods.def"
#undef SEMRANK_STREAM
#undef SEMRANK_UNARY

// BareService with those of the first `num_methods` methods of the table that
// are of this service.
template <typename Generated, std::size_t num_methods>
struct WithMethods {
  static constexpr std::size_t kLast = num_methods - 1;
  using Rest = typename WithMethods<Generated, kLast>::Type;
  using Type =
      std::conditional_t<std::string_view(kMethods[kLast].service) ==
                             Generated::service_full_name(),
                         WithMethod<static_cast<MethodId>(kLast), Rest>, Rest>;
};
template <typename Generated>
struct WithMethods<Generated, 0> {
  using Type = BareService<Generated>;
};

template <typename Generated>
class TableService final : public WithMethods<Generated, kNumMethods>::Type {
 public:
  explicit TableService(const std::shared_ptr<const MethodCalls>& calls) {
    this->calls_ = calls;
  }
};

}  // namespace

std::vector<std::unique_ptr<grpc::Service>> MakeServices(
    const ServerParts& parts, OpenCalls& calls) {
  const auto shared = std::make_shared<const MethodCalls>(parts, calls);
  std::vector<std::unique_ptr<grpc::Service>> services;
  services.push_back(
      std::make_unique<TableService<v1::RankingService>>(shared));
  services.push_back(
      std::make_unique<TableService<v1::EmbeddingService>>(shared));
  services.push_back(
      std::make_unique<TableService<v1::CatalogService>>(shared));
  services.push_back(std::make_unique<TableService<v1::ModelService>>(shared));
  services.push_back(std::make_unique<TableService<v1::EventService>>(shared));
  return services;
}

}  // namespace semrank
