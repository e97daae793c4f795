// A connection that carries the Rank calls of a load run, as unary calls or as
// requests of one stream.
//
//   Events   every operation ends with an event in the completion queue. Its
//            tag is a LoadEvent, which one thread must handle.
//   Threads  one thread at a time calls Send, Close and Cancel; another one may
//            handle events at the same time.
#ifndef SEMRANK_CLIENT_LOAD_LOAD_CONNECTION_H_
#define SEMRANK_CLIENT_LOAD_LOAD_CONNECTION_H_

#include <grpcpp/completion_queue.h>

#include <chrono>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/lib/client_options.h"
#include "semrank/v1/ranking_service.pb.h"

namespace semrank {

class LoadEvent {
 public:
  virtual ~LoadEvent() = default;
  // `ok` as the completion queue returned it.
  virtual void Handle(bool ok) = 0;
};

// A call in flight. Must not move before its response.
struct LoadCall {
  std::chrono::steady_clock::time_point due;
  std::chrono::steady_clock::time_point sent;
  absl::Status status;  // of the response
};

class LoadConnection {
 public:
  // Runs while an event is handled, and may send the call again.
  using OnResponse = std::function<void(LoadCall&)>;

  // `options` must pass CheckOptions. `queue` must outlive the connection, and
  // the connection its events. A unary call has the deadline of the options; a
  // stream is cancelled at `end`.
  static std::unique_ptr<LoadConnection> MakeUnary(const ClientOptions& options,
                                                   grpc::CompletionQueue* queue,
                                                   OnResponse on_response);
  static std::unique_ptr<LoadConnection> MakeStream(
      const ClientOptions& options, grpc::CompletionQueue* queue,
      OnResponse on_response, absl::Time end);
  virtual ~LoadConnection() = default;

  // Copies the request. Leads to exactly one `on_response`.
  virtual void Send(const v1::RankRequest& request, LoadCall& call) = 0;

  // Cancels the calls in flight, which then get their responses at once. Not
  // while another thread is in Send.
  virtual void Cancel() = 0;

  // Call after the last response. The connection is closed when the events that
  // follow have been handled.
  virtual void Close() {}
  virtual bool is_closed() const { return true; }
};

}  // namespace semrank

#endif  // SEMRANK_CLIENT_LOAD_LOAD_CONNECTION_H_
