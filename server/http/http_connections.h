// What the connections of one HTTP server share.
#ifndef SEMRANK_SERVER_HTTP_HTTP_CONNECTIONS_H_
#define SEMRANK_SERVER_HTTP_HTTP_CONNECTIONS_H_

#include <algorithm>
#include <boost/asio/thread_pool.hpp>
#include <list>
#include <memory>
#include <set>
#include <utility>

#include "absl/time/time.h"
#include "model/base/mutex.h"
#include "server/base/fair_share.h"
#include "server/http/http_options.h"
#include "server/http/http_routes.h"

namespace semrank {

class HttpConnection;

// The most that one caller may have of the bytes of unfinished bodies. Below 1,
// because FairShare limits nothing at 1, and nothing else limits these bytes.
inline constexpr double kMaxShareOfUnfinished = 0.99;

class HttpConnections {
 public:
  HttpConnections(HttpRoutes http_routes, HttpServerOptions http_options)
      : routes(std::move(http_routes)), options(std::move(http_options)) {}

  // Handlers that run, and calls whose response is not sent yet, so that a
  // server that stops can wait for them. Thread-safe.
  void BeginCall();
  void EndCall();
  // False when there still are some at `limit`.
  bool WaitForCalls(absl::Time limit);

  const HttpRoutes routes;
  const HttpServerOptions options;
  // Bodies' streams run here, pages there: pages answer while all streams are
  // busy. The large page of metrics takes memory that the allocator keeps for
  // the thread, so one thread renders them all.
  boost::asio::thread_pool stream_workers{kMaxHttpCalls};
  boost::asio::thread_pool page_workers{1};

  // The rest is for the I/O thread only. Calls that hold one of the
  // kMaxHttpCalls places, which those get whose bodies have arrived:
  int num_calls = 0;
  // Handlers that are to be started behind what was read at the same time.
  int num_ready = 0;
  FairShare places{"HTTP calls", kMaxHttpCalls, options.max_share_per_caller};
  FairShare unfinished_bytes{
      "bytes of bodies that have not arrived completely",
      options.max_unfinished_bytes,
      std::min(options.max_share_per_caller, kMaxShareOfUnfinished)};
  std::set<std::shared_ptr<HttpConnection>> open = {};
  // Connections that wait for their clients, longest first.
  std::list<HttpConnection*> waiting = {};

 private:
  Mutex mutex_;
  CondVar no_calls_;
  int num_in_flight_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_HTTP_HTTP_CONNECTIONS_H_
