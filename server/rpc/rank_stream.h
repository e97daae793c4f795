// RankStream: each message is a Rank of its own, answered when it is done.
#ifndef SEMRANK_SERVER_RPC_RANK_STREAM_H_
#define SEMRANK_SERVER_RPC_RANK_STREAM_H_

#include "server/rpc/stream_call.h"

namespace semrank {

class RankStream final : public StreamCall {
 public:
  // Runs the stream, which deletes itself; returns what the method must return.
  // Arguments as of StreamCall.
  static RawStreamReactor* Start(const RpcEnvironment& environment,
                                 const Metrics::Stream& metrics,
                                 grpc::CallbackServerContext& context);

 private:
  using StreamCall::StreamCall;

  void Take(grpc::Slice bytes) override;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_RANK_STREAM_H_
