// The semantic ranking server of a process: owns every part of it, from the
// models to the ports, and starts and stops them in order.
//
//   auto server = Server::Create(options);        // keys, certificates, store
//   status = (*server)->Start();                  // ports, models, catalog
//   ...                                           // serves until
//   (*server)->Stop(absl::Now() + absl::Seconds(30));
//
//   States   created -> started -> stopped. Start is called once, and Stop once
//            after a Start that succeeded. Callers see the states of
//            lifecycle.h.
//   Errors   a server whose Start failed can only be destroyed.
//   Threads  Start, Stop and the destructor are called by one thread;
//            Reload by any once Start has returned.
#ifndef SEMRANK_SERVER_SERVER_H_
#define SEMRANK_SERVER_SERVER_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/auth/secrets.h"
#include "server/base/logging.h"
#include "server/base/periodic_task.h"
#include "server/base/recent_calls.h"
#include "server/base/request_log.h"
#include "server/base/unread_responses.h"
#include "server/catalog/sync/synced_catalog.h"
#include "server/events/event_log.h"
#include "server/http/http_server.h"
#include "server/options.h"
#include "server/ranking/shadow_ranker.h"
#include "server/requests/server_parts.h"
#include "server/rpc/health_server.h"
#include "server/rpc/rpc_server.h"
#include "server/stores/document_store.h"
#include "server/vectors/document_vector_cache.h"
#include "server/vectors/stored_vectors.h"

namespace semrank {

// What tests, fuzzers and benchmarks put in place of what the options name.
struct ServerSubstitutes {
  // Empty = the folders of options.models.
  std::vector<ModelChoice> models = {};
  // Null = the store of options.store.
  std::unique_ptr<DocumentStore> store = {};
  // The delays and the clock of the log of events; the rest comes from the
  // options.
  EventLog::Options events = {};
  // max_wait comes from the options; num_threads 0 = one for each processor.
  WorkerPool::Options workers = {.num_threads = 0};
  RequestLog::LogLine log_request = &LogRequest;
  // Start binds no port and starts no thread: calls go through parts(), and a
  // change of the models is looked for when the caller does so.
  bool parts_only = false;
};

// How the caller of Start ends or hastens it.
struct StartControl {
  // Asked between two models and between two batches of documents or titles.
  std::function<bool()> cancelled = [] { return false; };
  // Waits between two attempts to load a missing model (--wait_for_model); may
  // return early.
  std::function<void(absl::Duration)> wait = &absl::SleepFor;
};

class Server {
 public:
  // Reads the key and certificate files and opens the store. `options` are
  // those that FinishOptions has checked. Fails with the error of the first
  // file or store that cannot be used.
  static absl::StatusOr<std::unique_ptr<Server>> Create(
      const ServerOptions& options, ServerSubstitutes substitutes = {});
  // Stops at once, without waiting for calls, if Stop was not called.
  ~Server() = default;
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Returns when the server answers:
  //   1. binds every port, so that a port in use is reported at once (as
  //      Unavailable) and probes find the server while it loads;
  //   2. loads a version of each model; fails when one has none, or waits for
  //      it with --wait_for_model;
  //   3. notes the position in the store's log of changes, loads the catalog
  //      and begins to follow models and changes;
  //   4. embeds the titles of --warm_catalog;
  //   5. reports SERVING to clients, probes and systemd.
  // Returns a Cancelled error when control.cancelled ends the start.
  absl::Status Start(const StartControl& control = {});

  // "grpc=HOST:PORT http=HOST:PORT", and health= if it has a port of its own,
  // with the ports that are in use.
  std::string addresses() const;

  // Looks for new versions of the models and for new keys and certificates, in
  // a thread of the server, and logs what is new.
  void Reload();

  // Returns when every call has ended and what was queued for the store and
  // for --events is written; false when calls had to be cancelled:
  //   1. reports NOT_SERVING, and answers calls for --drain_delay, so that load
  //      balancers stop sending them;
  //   2. refuses new connections and calls, and lets the calls in flight end
  //      until `deadline`;
  //   3. cancels the others and closes the ports;
  //   4. stops following models and changes, and writes the queued vectors and
  //      events.
  // A stop that hangs ends the process with exit code 1: 5 seconds after
  // `deadline`, or 10 seconds after step 4 began.
  bool Stop(absl::Time deadline);

  // What requests are answered with; valid as long as the server.
  const ServerParts& parts() const { return parts_; }
  Lifecycle& lifecycle() { return lifecycle_; }
  SyncedCatalog& catalog() { return catalog_; }

 private:
  Server(const ServerOptions& options, ServerSubstitutes substitutes,
         std::unique_ptr<Secrets> secrets,
         std::unique_ptr<DocumentVectorCache> cache,
         std::unique_ptr<OpenedEvents> events);

  // Null without --shadow.
  std::unique_ptr<ShadowRanker> StartShadow(const ExperimentOptions& options);
  HttpPages MakePages(HttpCalls& calls);
  absl::Status Listen();
  absl::Status LoadFirstModels(const StartControl& control);
  void LookForModels();
  void ReportReady();
  bool Drain(absl::Time deadline);

  const ServerOptions options_;
  const bool parts_only_;
  // Construction order is member order: each part uses only those above it, and
  // they are destroyed from the last to the first. So the ports, through which
  // calls reach all other parts, come after them.
  const std::unique_ptr<Secrets> secrets_;
  Lifecycle lifecycle_;
  Metrics metrics_;
  Admission admission_;
  ConnectionCount connections_;
  UnreadResponses unread_;
  const std::unique_ptr<DocumentVectorCache> cache_;
  ModelStore models_;
  const std::unique_ptr<DocumentStore> store_;  // null = none
  std::unique_ptr<StoredVectors> stored_;       // null without a store
  std::unique_ptr<EventLog> events_;            // null without --events
  const TextEmbedder embedder_;
  SyncedCatalog catalog_;
  const RankingEngine ranking_;
  const EmbeddingEngine embedding_;
  WorkerPool workers_;
  WorkerPool writers_;
  WorkerPool loader_;
  const std::unique_ptr<ShadowRanker> shadow_;  // null = none
  RequestLog request_log_;
  RecentCalls recent_calls_;
  const ServerParts parts_;
  std::unique_ptr<PeriodicTask> sampler_;
  std::unique_ptr<HttpServer> http_;
  std::unique_ptr<RpcServer> rpc_;
  std::unique_ptr<HealthServer> health_;  // null = no port of its own
  std::atomic<bool> reload_asked_ = false;
  std::unique_ptr<PeriodicTask> model_watch_;
  std::unique_ptr<PeriodicTask> heartbeat_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_SERVER_H_
