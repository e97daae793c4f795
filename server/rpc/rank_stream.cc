#include "server/rpc/rank_stream.h"

#include <memory>
#include <string>
#include <utility>

#include "model/base/status_macros.h"
#include "server/base/errors.h"
#include "server/requests/rank_work.h"
#include "server/requests/rpc_status.h"
#include "server/rpc/status_mapping.h"
#include "server/rpc/streamed_request.h"

namespace semrank {
namespace {

// One request of the stream: RankWork, with the number that comes and goes
// beside it.
class StreamedRankWork final : public RequestWork {
 public:
  StreamedRankWork(const RpcEnvironment& environment,
                   v1::RankStreamResponse& response)
      : response_(response), rank_(environment, response.mutable_response()) {}

  // The refusal carries the request's number.
  bool refused_unread() const override { return false; }
  const MessageTexts* texts() const override { return &kRankStreamTexts; }
  absl::StatusOr<WorkSize> Measure(const TextCount& count) override {
    response_.set_request_number(count.request_number);
    if (!count.has_request) {
      return FieldError("INVALID_FIELD", "request", "is not set");
    }
    return rank_.Measure(count);
  }
  absl::Status Read(std::string_view bytes) override {
    SEMRANK_RETURN_IF_ERROR(ReadRankStreamRequest(bytes, message_));
    return rank_.Read(message_.request);
  }
  absl::StatusOr<Progress> Advance(const RequestRun& run) override {
    return rank_.Advance(run);
  }
  const google::protobuf::MessageLite& response() const override {
    return response_;
  }

 private:
  v1::RankStreamResponse& response_;
  RankStreamMessage message_;
  RankWork rank_;
};

class StreamedRank final : public StreamedRequest {
 public:
  StreamedRank(StreamCall& stream, grpc::Slice bytes)
      : StreamedRank(stream, std::move(bytes),
                     std::make_unique<v1::RankStreamResponse>()) {}

 private:
  StreamedRank(StreamCall& stream, grpc::Slice bytes,
               std::unique_ptr<v1::RankStreamResponse> response)
      : StreamedRequest(stream, std::move(bytes),
                        std::make_unique<StreamedRankWork>(stream.environment(),
                                                           *response)),
        response_(std::move(response)) {}

  void Done(const absl::Status& status) override {
    const std::unique_ptr<StreamedRank> self(this);
    // Whose request it was is not known, or not to be believed.
    if (ErrorReason(status) == kMalformedReason) return stream().End(status);
    if (!status.ok()) {
      *response_->mutable_status() = ToRpcStatus(status);
      const absl::Status made = MakeAnswer(*response_);
      if (!made.ok()) return stream().End(made);
    }
    stream().Record(status, response_->request_number(), TimeSinceReceived());
    stream().Answer(status, answer());
  }

  const std::unique_ptr<v1::RankStreamResponse> response_;
};

}  // namespace

RawStreamReactor* RankStream::Start(const RpcEnvironment& environment,
                                    const Metrics::Stream& metrics,
                                    grpc::CallbackServerContext& context) {
  const auto max_requests =
      static_cast<int>(environment.ranking->limits().max_requests_per_stream);
  auto* const stream =
      new RankStream(environment, metrics, context, max_requests);
  stream->Begin();
  return stream;
}

void RankStream::Take(grpc::Slice bytes) {
  StreamedRequest::Begin(
      std::make_unique<StreamedRank>(*this, std::move(bytes)));
}

}  // namespace semrank
