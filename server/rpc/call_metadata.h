// Reads the metadata of a call and writes its trailers.
#ifndef SEMRANK_SERVER_RPC_CALL_METADATA_H_
#define SEMRANK_SERVER_RPC_CALL_METADATA_H_

#include <string>

#include "absl/status/status.h"
#include "server/base/request_identity.h"
#include "server/requests/methods.h"
#include "server/requests/server_parts.h"

namespace grpc {
class ServerContextBase;
class Status;
}  // namespace grpc

namespace semrank {

// The trailer of errors after which the caller may try again; its value is
// RetryDelayMillis.
inline constexpr char kPushbackTrailer[] = "grpc-retry-pushback-ms";

// Makes the first checks of a call: METADATA_TOO_LARGE, then the errors of
// CheckKey.
absl::Status CheckMetadata(const grpc::ServerContextBase& context,
                           const Method& method, const ServerParts& parts);

// Returns the request id and the trace that the caller sent, or a new id.
RequestIdentity IdentityOf(const grpc::ServerContextBase& context);

// Describes the caller for the log: "key 1a2b3c4d at ipv4:10.0.0.7:40312".
std::string ActorOf(const grpc::ServerContextBase& context);

// The result has a google.rpc.Status as its details.
grpc::Status ToGrpcStatus(const absl::Status& status);

// Returns the status to finish the call with. Adds the trailers, so it must be
// called once.
grpc::Status FinalStatus(const absl::Status& status,
                         const RequestIdentity& identity,
                         grpc::ServerContextBase& context);

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_CALL_METADATA_H_
