// What a call brings in its metadata and takes back in its trailers.
//
//   Threads  free functions; FinalStatus by one thread for each call.
#ifndef SEMRANK_SERVER_RPC_CALL_METADATA_H_
#define SEMRANK_SERVER_RPC_CALL_METADATA_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/status.h>

#include <string>

#include "absl/status/status.h"
#include "server/base/request_identity.h"
#include "server/requests/methods.h"
#include "server/requests/server_parts.h"

namespace semrank {

// Trailer of errors that ask the caller to come back later; its value is
// RetryDelayMillis.
inline constexpr char kPushbackTrailer[] = "grpc-retry-pushback-ms";

// What a call is checked for first: METADATA_TOO_LARGE, then the errors of
// CheckKey.
absl::Status CheckMetadata(const grpc::ServerContextBase& context,
                           const Method& method, const ServerParts& parts);

// The request id and the trace that the caller sent, or a new id.
RequestIdentity IdentityOf(const grpc::ServerContextBase& context);

// Who calls, for the log: "key 1a2b3c4d at ipv4:10.0.0.7:40312".
std::string ActorOf(const grpc::ServerContextBase& context);

// With a google.rpc.Status as its details.
grpc::Status ToGrpcStatus(const absl::Status& status);

// The status to finish the call with. Adds the trailers, so it is to be called
// once.
grpc::Status FinalStatus(const absl::Status& status,
                         const RequestIdentity& identity,
                         grpc::ServerContextBase& context);

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_CALL_METADATA_H_
