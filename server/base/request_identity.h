// How one request is called in logs and by tracing: given by the caller, or
// made here.
//
//   Threads  free functions, from any thread.
#ifndef SEMRANK_SERVER_BASE_REQUEST_IDENTITY_H_
#define SEMRANK_SERVER_BASE_REQUEST_IDENTITY_H_

#include <string>
#include <string_view>

namespace semrank {

// Names of the headers, of gRPC metadata and of HTTP alike.
inline constexpr std::string_view kRequestIdHeader = "x-request-id";
inline constexpr std::string_view kTraceparentHeader = "traceparent";

struct RequestIdentity {
  // 1 to 128 visible ASCII characters.
  std::string request_id = {};
  // As W3C Trace Context writes it; empty = the caller does not trace.
  std::string traceparent = {};
};

// What the caller's headers say, where it is well-formed: nothing else may get
// into a log. Without a usable request id 32 random hex digits are made.
RequestIdentity MakeRequestIdentity(std::string_view request_id,
                                    std::string_view traceparent);

}  // namespace semrank

#endif  // SEMRANK_SERVER_BASE_REQUEST_IDENTITY_H_
