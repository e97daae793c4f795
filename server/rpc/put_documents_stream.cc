#include "server/rpc/put_documents_stream.h"

#include <memory>
#include <utility>

#include "server/rpc/put_work.h"
#include "server/rpc/streamed_request.h"

namespace semrank {
namespace {

class StreamedPut final : public StreamedRequest {
 public:
  StreamedPut(StreamCall& stream, grpc::Slice bytes, std::uint64_t number,
              std::uint64_t& num_before)
      : StreamedRequest(stream, std::move(bytes),
                        std::make_unique<StreamedPutWork>(stream.environment(),
                                                          num_before)),
        number_(number) {}

 private:
  // A piece that cannot be kept ends the stream: answers are in order, so the
  // client knows what is kept.
  void Done(const absl::Status& status) override {
    const std::unique_ptr<StreamedPut> self(this);
    if (!status.ok()) return stream().End(status);
    stream().Record(status, number_, TimeSinceReceived());
    stream().Answer(status, answer());
  }

  const std::uint64_t number_;
};

}  // namespace

RawStreamReactor* PutDocumentsStream::Start(
    const RpcEnvironment& environment, const Metrics::Stream& metrics,
    grpc::CallbackServerContext& context) {
  // One piece at a time keeps the order.
  auto* const stream =
      new PutDocumentsStream(environment, metrics, context, /*max_requests=*/1);
  stream->Begin(Role::kWrite);
  return stream;
}

void PutDocumentsStream::Take(grpc::Slice bytes) {
  StreamedRequest::Begin(std::make_unique<StreamedPut>(
      *this, std::move(bytes), ++num_messages_, num_answered_));
}

}  // namespace semrank
