#include "server/rpc/put_documents_stream.h"

#include <memory>
#include <utility>

#include "server/requests/put_work.h"
#include "server/rpc/streamed_request.h"

namespace semrank {

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
  StreamedRequest::Begin(std::make_unique<StreamedPiece>(
      *this, std::move(bytes),
      std::make_unique<StreamedPutWork>(environment(), num_answered_),
      ++num_messages_));
}

}  // namespace semrank
