#include "server/rpc/status_mapping.h"

#include "server/requests/rpc_status.h"

namespace semrank {

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  const google::rpc::Status details = ToRpcStatus(status);
  // gRPC's codes have Abseil's numbers.
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()),
                      details.message(), details.SerializeAsString());
}

}  // namespace semrank
