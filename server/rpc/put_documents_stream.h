// PutDocumentsStream: any number of documents, one piece after another, each
// acknowledged once its documents are kept.
#ifndef SEMRANK_SERVER_RPC_PUT_DOCUMENTS_STREAM_H_
#define SEMRANK_SERVER_RPC_PUT_DOCUMENTS_STREAM_H_

#include <cstdint>

#include "server/rpc/stream_call.h"

namespace semrank {

class PutDocumentsStream final : public StreamCall {
 public:
  // Runs the stream, which deletes itself; returns what the method must return.
  // Arguments as of StreamCall.
  static RawStreamReactor* Start(const RpcEnvironment& environment,
                                 const Metrics::Stream& metrics,
                                 grpc::CallbackServerContext& context);

 private:
  using StreamCall::StreamCall;

  void Take(grpc::Slice bytes) override;

  // Belongs to the one piece that is in work.
  std::uint64_t num_messages_ = 0;
  std::uint64_t num_answered_ = 0;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_PUT_DOCUMENTS_STREAM_H_
