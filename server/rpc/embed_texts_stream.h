// EmbedTextsStream: any number of texts, one piece after another, in order.
#ifndef SEMRANK_SERVER_RPC_EMBED_TEXTS_STREAM_H_
#define SEMRANK_SERVER_RPC_EMBED_TEXTS_STREAM_H_

#include <cstdint>

#include "server/requests/request_reader.h"
#include "server/rpc/stream_call.h"

namespace semrank {

// What the first message of a stream fixes, and how far the stream has come.
// Belongs to the one piece that is in work.
struct EmbedStreamState {
  EmbedSettings settings;
  ServedModelPtr served;  // null before the first message
  std::uint64_t num_messages = 0;
  std::uint64_t num_answered = 0;  // texts
};

class EmbedTextsStream final : public StreamCall {
 public:
  // Runs the stream, which deletes itself; returns what the method must return.
  // Arguments as of StreamCall.
  static RawStreamReactor* Start(const RpcEnvironment& environment,
                                 const Metrics::Stream& metrics,
                                 grpc::CallbackServerContext& context);

 private:
  using StreamCall::StreamCall;

  void Take(grpc::Slice bytes) override;

  EmbedStreamState state_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_EMBED_TEXTS_STREAM_H_
