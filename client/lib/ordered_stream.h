// Sends items over a bidirectional stream that the server answers in order.
// After a broken stream the next one begins with the first item without a
// response.
//
//   Size     of a message: StreamLimits. The limits are fetched again when the
//            server rejects a message as too large.
//   Retries  attempts are counted anew whenever a response made progress, or a
//            long stream would run out of them.
//   Threads  one thread writes messages, the caller's reads responses, so that
//            many messages are on their way at once.
#ifndef SEMRANK_CLIENT_LIB_ORDERED_STREAM_H_
#define SEMRANK_CLIENT_LIB_ORDERED_STREAM_H_

#include <grpcpp/support/sync_stream.h>

#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "client/lib/connection.h"
#include "client/lib/request_chunks.h"
#include "client/lib/response_check.h"
#include "client/lib/retry.h"
#include "client/lib/server_limits.h"
#include "model/base/status_macros.h"

namespace semrank {

struct OrderedStreamOptions {
  const Connection& connection;
  ServerLimits& server_limits;
  absl::Time deadline;
  MessageLimits limits;  // of the first stream
  std::int64_t num_items;
  std::string_view items;  // for errors: "texts"
};

// `start` is called before each stream and returns make(begin, end), which
// makes the message with the items from `begin` to `end` - 1, in the thread
// that writes. `take(begin, num_done, response)` checks and uses a response of
// the stream that began with item `begin`, when `num_done` items had their
// responses, and returns the number of items that it answers, or an error that
// ends the call.
template <typename Stub, typename Request, typename Response, typename Start,
          typename Take>
absl::Status RunOrderedStream(
    OrderedStreamOptions options, Stub& stub,
    std::unique_ptr<grpc::ClientReaderWriter<Request, Response>> (
        Stub::*method)(grpc::ClientContext*),
    Start start, Take take) {
  using Stream = grpc::ClientReaderWriter<Request, Response>;
  Retry retry(options.connection.options().retry, options.deadline);
  std::int64_t num_done = 0;  // over all streams
  while (true) {
    const std::int64_t begin = num_done;
    const auto write = [&, make = start()](Stream& stream) {
      std::int64_t next = begin;
      while (next < options.num_items) {
        const std::int64_t first = next;
        const Request message =
            MakeChunk(first, options.num_items, StreamLimits(options.limits),
                      [&](std::int64_t from, std::int64_t end) {
                        next = end;
                        return make(from, end);
                      });
        if (!stream.Write(message)) return;  // Finish has the reason
      }
      stream.WritesDone();
    };
    const auto read = [&](Stream& stream) -> absl::Status {
      Response response;
      while (stream.Read(&response)) {
        SEMRANK_ASSIGN_OR_RETURN(const std::int64_t num_answered,
                                 take(begin, num_done, response));
        num_done += num_answered;
        if (num_answered > 0) retry.Restart();
      }
      return absl::OkStatus();
    };
    const StreamEnd end = options.connection.RunStream(
        stub, method, options.deadline, retry, write, read);
    SEMRANK_RETURN_IF_ERROR(end.read);
    if (end.server.ok()) {
      return num_done == options.num_items
                 ? absl::OkStatus()
                 : InvalidResponse(absl::StrFormat(
                       "the stream ended after %d of %d %s", num_done,
                       options.num_items, options.items));
    }
    if (!end.retry && !options.server_limits.Renew(end.server, options.deadline,
                                                   options.limits)) {
      return end.server;
    }
  }
}

}  // namespace semrank

#endif  // SEMRANK_CLIENT_LIB_ORDERED_STREAM_H_
