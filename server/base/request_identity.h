// The ids of a request in logs and in tracing. The caller gives them, or the
// server makes them.
#ifndef SEMRANK_SERVER_BASE_REQUEST_IDENTITY_H_
#define SEMRANK_SERVER_BASE_REQUEST_IDENTITY_H_

#include <string>
#include <string_view>

namespace semrank {

// Names of the headers, in gRPC metadata and in HTTP.
inline constexpr std::string_view kRequestIdHeader = "x-request-id";
inline constexpr std::string_view kTraceparentHeader = "traceparent";

struct RequestIdentity {
  // 1 to 128 visible ASCII characters.
  std::string request_id = {};
  // As W3C Trace Context writes it; empty = the caller does not trace.
  std::string traceparent = {};
};

// Takes the values of the caller's headers if they are well-formed: nothing
// else may enter a log. Without a usable request id the server makes one of 32
// random hex digits.
RequestIdentity MakeRequestIdentity(std::string_view request_id,
                                    std::string_view traceparent);

}  // namespace semrank

#endif  // SEMRANK_SERVER_BASE_REQUEST_IDENTITY_H_
