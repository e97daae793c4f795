// One request of a stream: its bytes, and the answer that it becomes.
#ifndef SEMRANK_SERVER_RPC_STREAMED_REQUEST_H_
#define SEMRANK_SERVER_RPC_STREAMED_REQUEST_H_

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "server/requests/request_run.h"
#include "server/rpc/byte_buffers.h"
#include "server/rpc/stream_call.h"

namespace semrank {

class StreamedRequest : public RequestRun {
 public:
  // Runs the request, which deletes itself. Its Done must lead to Answer or End
  // of the stream.
  static void Begin(std::unique_ptr<StreamedRequest> request) {
    StreamedRequest& run = *request.release();
    absl::Status status = run.CheckUnread();
    if (status.ok() && run.work().refused_unread()) {
      status = run.environment().calls->leaving().CheckRoom();
    }
    if (!status.ok()) return run.Refuse(status);
    run.Start(ViewOf(run.bytes_));
  }

  absl::Time deadline() const override { return stream_.deadline(); }
  bool gone() const override { return stream_.gone(); }

 protected:
  StreamedRequest(StreamCall& stream, grpc::Slice bytes,
                  std::unique_ptr<RequestWork> work)
      : RequestRun(stream.environment(), std::move(work)),
        stream_(stream),
        bytes_(std::move(bytes)) {}

  absl::Status MakeAnswer(
      const google::protobuf::MessageLite& response) override {
    return Serialize(response, *environment().metrics, answer_);
  }
  StreamCall& stream() { return stream_; }
  const grpc::ByteBuffer& answer() const { return answer_; }

 private:
  StreamCall& stream_;
  const grpc::Slice bytes_;
  grpc::ByteBuffer answer_;
};

// One message of a stream that is answered in order. What cannot be answered
// ends the stream, so the client knows from the answers how far it came.
class StreamedPiece final : public StreamedRequest {
 public:
  // The piece is message `number` of the stream, from 1.
  StreamedPiece(StreamCall& stream, grpc::Slice bytes,
                std::unique_ptr<RequestWork> work, std::uint64_t number)
      : StreamedRequest(stream, std::move(bytes), std::move(work)),
        number_(number) {}

 private:
  void Done(const absl::Status& status) override {
    const std::unique_ptr<StreamedPiece> self(this);
    if (!status.ok()) return stream().End(status);
    stream().Record(status, number_, TimeSinceReceived());
    stream().Answer(status, answer());
  }

  const std::uint64_t number_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_STREAMED_REQUEST_H_
