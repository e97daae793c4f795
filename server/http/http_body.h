// The body of a call, read within bounds of bytes and time.
//
//   Threads  in the thread that civetweb answers the connection with.
#ifndef SEMRANK_SERVER_HTTP_HTTP_BODY_H_
#define SEMRANK_SERVER_HTTP_HTTP_BODY_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

struct mg_connection;

namespace semrank {

// What a client may take to send a body, however it spreads the bytes.
inline constexpr absl::Duration kMaxHttpBodyTime = absl::Seconds(10);

// Tells a client that waits for it to go on ("Expect: 100-continue"), then
// appends the body to `body`. ResourceExhausted MESSAGE_TOO_LARGE, which is
// answered before the client goes on where the size is stated;
// DeadlineExceeded; Cancelled when the body ends before its end.
absl::Status ReadHttpBody(mg_connection* connection,
                          std::int64_t max_body_bytes, std::string& body);

}  // namespace semrank

#endif  // SEMRANK_SERVER_HTTP_HTTP_BODY_H_
