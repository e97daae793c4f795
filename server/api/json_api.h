// The calls of the HTTP port: the paths of all methods (requests/methods.def),
// as JSON of the API or in the formats of other products.
//
//   Errors   the HTTP code of the same meaning; the body is google.rpc.Status,
//            or what clients of the other API expect.
//   Checks   keys, limits, admission and counters are those of gRPC (api_call).
#ifndef SEMRANK_SERVER_API_JSON_API_H_
#define SEMRANK_SERVER_API_JSON_API_H_

#include "server/api/api_call.h"

namespace semrank {

// The parts must outlive the server.
HttpCalls JsonApi(const ServerParts& parts, const ApiOptions& options);

}  // namespace semrank

#endif  // SEMRANK_SERVER_API_JSON_API_H_
