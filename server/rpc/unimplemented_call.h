// The answer of methods that a later version brings: UNIMPLEMENTED with a
// message that says so, counted like any other outcome.
#ifndef SEMRANK_SERVER_RPC_UNIMPLEMENTED_CALL_H_
#define SEMRANK_SERVER_RPC_UNIMPLEMENTED_CALL_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <string_view>

#include "server/core/metrics.h"
#include "server/rpc/stream_call.h"

namespace semrank {

// `method` as "RankingService.Explain".
grpc::ServerUnaryReactor* AnswerUnimplemented(
    std::string_view method, const Metrics::Rpc& rpc,
    grpc::CallbackServerContext* context);

RawStreamReactor* AnswerUnimplementedStream(std::string_view method,
                                            const Metrics::Rpc& rpc);

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_UNIMPLEMENTED_CALL_H_
