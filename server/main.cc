// semrank-server: see kUsage.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "model/base/simd_level.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "model/base/thread_pool.h"
#include "model/cli/command_line.h"
#include "server/api/json_api.h"
#include "server/base/logging.h"
#include "server/base/periodic_task.h"
#include "server/base/recent_calls.h"
#include "server/base/request_log.h"
#include "server/catalog/sync/synced_catalog.h"
#include "server/http/http_server.h"
#include "server/open_files.h"
#include "server/options.h"
#include "server/pages/browser_pages.h"
#include "server/pages/operator_pages.h"
#include "server/pages/status_page.h"
#include "server/rpc/health_server.h"
#include "server/rpc/memory_watchdog.h"
#include "server/rpc/rpc_server.h"
#include "server/secrets.h"
#include "server/service_manager.h"
#include "server/startup.h"
#include "server/state_metrics.h"
#include "server/stop.h"

namespace semrank {
namespace {

constexpr std::string_view kUsage =
    R"(semrank-server --model_dir=DIR [--listen_address=HOST:PORT] [--http_address=HOST:PORT]

Answers semrank.v1 over gRPC. Over HTTP: the same calls as JSON and in the
forms of other products (/openapi.json), /metrics, /healthz, /readyz and, for
people, a playground at / and /statusz. Once ready it prints one line on
standard output:
  semrank-server ready grpc=HOST:PORT http=HOST:PORT
SIGTERM or Ctrl-C ends it after the running calls; a second one at once.
New versions of a model are served as they appear; SIGHUP looks for them now.

  semrank-server --model_dir=models/shop
  semrank-server --model_dir=shop=models/shop,news=models/news --model_version=shop=3
  semrank-server --model_dir=models/shop --listen_address=0.0.0.0:50051 --drain_delay=5s
)";
constexpr ProgramInfo kProgram = {
    .name = "semrank-server",
    .summary = "ranks documents for queries over gRPC",
    .usage = kUsage};

// What is still to be written to the store is seconds of work at most.
constexpr absl::Duration kMaxStoreClosing = absl::Seconds(10);

// Everything that listens.
struct Listeners {
  std::unique_ptr<HttpServer> http = {};
  std::unique_ptr<RpcServer> rpc = {};
  std::unique_ptr<HealthServer> health = {};  // null = none of its own
};

std::string Addresses(const Listeners& listeners) {
  std::string addresses = absl::StrFormat(
      "grpc=%s http=%s", listeners.rpc->address(), listeners.http->address());
  if (listeners.health != nullptr) {
    addresses += " health=" + listeners.health->address();
  }
  return addresses;
}

// Every port is bound before anything is loaded: one in use is reported at
// once, and probes find the server while it loads.
absl::StatusOr<Listeners> Listen(const ServerOptions& options,
                                 const TlsCertificates* tls,
                                 const ServerParts& parts, HttpPages pages) {
  Listeners listeners;
  const RpcServerOptions rpc_options = {
      .listen_address = options.listen_address,
      .tls = tls,
      .max_connection_age = options.max_connection_age,
      .max_memory_bytes = options.max_memory_bytes > 0
                              ? options.max_memory_bytes
                              : DefaultMemoryLimit()};
  SEMRANK_ASSIGN_OR_RETURN(listeners.rpc, RpcServer::Start(rpc_options, parts));
  // After gRPC has its port, which the playground shows.
  if (options.pages) AddBrowserPages(listeners.rpc->address(), pages);
  SEMRANK_ASSIGN_OR_RETURN(
      listeners.http,
      HttpServer::Start(
          options.http_address, std::move(pages),
          JsonApi(parts, {options.limits.max_http_body_bytes,
                          HttpCallsAllowed(options.security)}),
          {.tls = tls,
           .calls_need_certificate = HttpCallsNeedCertificate(options.security),
           .cors_origins = options.security.cors_origins}));
  if (!options.security.health_address.empty()) {
    SEMRANK_ASSIGN_OR_RETURN(
        listeners.health,
        HealthServer::Start(options.security.health_address, *parts.lifecycle));
  }
  LogInfo("listening, not ready yet: %s", Addresses(listeners));
  return listeners;
}

void ReportReady(const Listeners& listeners) {
  listeners.rpc->ReportServing();
  if (listeners.health != nullptr) listeners.health->ReportServing();
  const std::string addresses = Addresses(listeners);
  LogInfo("ready: %s simd=%s", addresses, SimdLevel());
  TellServiceManagerReady("ready " + addresses);
  absl::PrintF("semrank-server ready %s\n", addresses);
  std::fflush(stdout);
}

// How long a stop may exceed its flags before the watchdog ends it.
constexpr absl::Duration kStopSlack = absl::Seconds(5);
// Part of it: time for JSON calls to send that they were cancelled.
constexpr absl::Duration kBreakOffTime = absl::Seconds(1);

// False when some had to be cancelled.
bool EndHttpCalls(absl::Time limit, const HttpServer& http,
                  Lifecycle& lifecycle) {
  const bool all_ended = http.WaitForCalls(limit);
  lifecycle.Advance(Lifecycle::State::kEnding);
  if (!all_ended) http.WaitForCalls(absl::Now() + kBreakOffTime);
  return all_ended;
}

// Reports NOT_SERVING, serves for --drain_delay, refuses what is new, lets
// running calls end within --drain_timeout, cancels the rest, closes. Ends the
// process with exit code 1 when that takes seconds longer than it may.
void Drain(const ServerOptions& options, Lifecycle& lifecycle,
           Listeners listeners) {
  const Watchdog watchdog(options.drain_delay + options.drain_timeout +
                          kStopSlack);
  TellServiceManagerStopping();
  // Readiness and health say so from here on.
  lifecycle.Advance(Lifecycle::State::kDraining);
  listeners.rpc->ReportNotServing();
  if (listeners.health != nullptr) listeners.health->ReportNotServing();
  // Load balancers notice only at their next look; calls are
  // answered until then.
  std::this_thread::sleep_for(absl::ToChronoNanoseconds(options.drain_delay));
  lifecycle.Advance(Lifecycle::State::kStopping);
  const absl::Time limit = absl::Now() + options.drain_timeout;
  // gRPC and HTTP share one limit, so HTTP gets what gRPC has left of it.
  bool all_ended = listeners.rpc->Stop(options.drain_timeout);
  all_ended &= EndHttpCalls(limit, *listeners.http, lifecycle);
  // Joins the handlers, which use the parts that the caller destroys next.
  listeners.http.reset();
  LogInfo("stopped; running calls %s",
          all_ended ? "ended" : "had to be cancelled");
}

// The order of the variables is the order of the parts' lives: each uses only
// those above it, and they are destroyed from the last to the first.
//
// Cancelled when a signal ended it before it was ready.
absl::Status Serve(const ServerOptions& options) {
  Signals signals;
  SEMRANK_ASSIGN_OR_RETURN(const auto secrets, Secrets::Load(options.security));
  Lifecycle lifecycle;
  Metrics metrics;
  Admission admission(options.limits.max_inflight_texts);
  ConnectionCount connections(options.limits.max_connections);
  SEMRANK_ASSIGN_OR_RETURN(const auto cache,
                           DocumentVectorCache::Create(options.cache_bytes));
  AddProcessReadings(metrics);
  if (secrets->tls() != nullptr) {
    AddCertificateReading(*secrets->tls(), metrics);
  }
  AddCacheReadings(*cache, metrics);
  AddAdmissionReadings(admission, metrics);
  AddConnectionReadings(connections, metrics);
  ModelStore models(ModelChoices(options.models), &metrics,
                    {.loaded = LogModelLoad,
                     .published = [&cache](std::span<const std::uint32_t> now) {
                       if (cache != nullptr) cache->DropModelsExcept(now);
                     }});
  SEMRANK_ASSIGN_OR_RETURN(const auto store, OpenStore(options.store));
  auto stored = UseStoreForVectors(options.store, store.get(), metrics);
  if (stored != nullptr) AddStoreReadings(*stored, metrics);
  const TextEmbedder embedder(cache.get(), &metrics, stored.get());
  SyncedCatalog catalog(options.max_catalog_documents,
                        {.limits = options.limits,
                         .embedder = &embedder,
                         .metrics = &metrics,
                         .store = store.get()});
  AddCatalogReadings(catalog, metrics);
  if (catalog.changes() != nullptr) {
    AddChangeReadings(*catalog.changes(), metrics);
  }
  const RankingEngine ranking(options.limits, &embedder, &metrics,
                              &catalog.documents);
  const EmbeddingEngine embedding(options.limits, &embedder, &metrics);
  WorkerPool workers({.num_threads = NumUsableProcessors(),
                      .max_wait = options.max_queue_wait});
  // One thread: models are loaded one after another.
  WorkerPool loader(1);
  RequestLog request_log({.slow_threshold = options.slow_request_threshold,
                          .access_share = options.access_log},
                         &LogRequest);
  const ServerParts parts = {.ranking = &ranking,
                             .embedding = &embedding,
                             .catalog_writer = &catalog.writer,
                             .catalog_searcher = &catalog.searcher,
                             .models = &models,
                             .lifecycle = &lifecycle,
                             .admission = &admission,
                             .connections = &connections,
                             .workers = &workers,
                             .loader = &loader,
                             .metrics = &metrics,
                             .access = secrets->access(),
                             .request_log = &request_log,
                             .admin_rpcs = options.models.enable_admin_rpcs};
  RecentCalls recent_calls(&metrics, absl::Now());
  const PeriodicTask sampler(RecentCalls::kInterval,
                             [&] { recent_calls.Sample(absl::Now()); });
  HttpPages pages = OperatorPages(&lifecycle, &metrics);
  AddOpenApi(pages);
  if (options.pages) {
    AddStatusPage({&lifecycle, &models, cache.get(), &admission, &connections,
                   &options.limits, &request_log, &catalog, stored.get(),
                   &recent_calls, catalog.changes()},
                  pages);
  }
  SEMRANK_ASSIGN_OR_RETURN(
      Listeners listeners,
      Listen(options, secrets->tls(), parts, std::move(pages)));

  const auto stop = [&] { return signals.stop_requested(); };
  SEMRANK_RETURN_IF_ERROR(LoadFirstModels(options.models, models, signals));
  SEMRANK_RETURN_IF_ERROR(catalog.Start(&models, stop));
  if (!options.warm_catalog.empty()) {
    SEMRANK_RETURN_IF_ERROR(
        WarmUp(options.warm_catalog, models, embedding, stop));
  }
  if (stop()) return absl::CancelledError("stopped while starting");
  PeriodicTask watcher(options.models.poll_interval,
                       // LogModelLoad has reported what failed.
                       [&] { models.Refresh().IgnoreError(); });
  // Workers that are all stuck answer nothing: systemd then restarts us.
  const PeriodicTask heartbeat(ServiceWatchdogInterval(), [&] {
    workers.Submit(&TellServiceManagerAlive);
  });
  // Before ReportReady: a client that hears SERVING must not be refused.
  lifecycle.Advance(Lifecycle::State::kServing);
  ReportReady(listeners);

  const int signal_number = signals.WaitForStop([&] { watcher.RunNow(); });
  LogInfo("signal %d: draining", signal_number);
  Drain(options, lifecycle, std::move(listeners));
  // No call embeds any more; what is queued for the store is still written.
  const Watchdog watchdog(kMaxStoreClosing);
  catalog.Stop();
  stored.reset();
  return absl::OkStatus();
}

void WarnAboutFewConnections(const CommandLine& command_line,
                             const ServerOptions& options) {
  const std::int64_t max_connections = options.limits.max_connections;
  const std::int64_t wanted = Limits().max_connections;
  if (!command_line.IsSet("max_connections") && max_connections < wanted) {
    LogWarning(
        "at most %d connections at once instead of %d (--max_connections): the "
        "limit on open files is %d (ulimit -n)",
        max_connections, wanted, OpenFileLimit());
  }
}

int Main(int argc, char** argv) {
  // Before any other thread is made: threads inherit the mask.
  BlockSignals();
  ServerOptions options;
  CommandLine command_line(kProgram);
  AddServerOptions(command_line, options);
  if (const auto exit_code = command_line.Parse(argc, argv)) return *exit_code;
  // FinishOptions fits --max_connections into the limit.
  RaiseOpenFileLimit();
  const absl::Status finished = FinishOptions(command_line, options);
  if (!finished.ok()) return command_line.ExitCode(finished);
  if (options.check_config) {
    absl::PrintF("%s", DescribeOptions(command_line));
    return command_line.ExitCode(Secrets::Check(options.security));
  }
  const bool json_log = options.log_format == LogFormat::kJson;
  InitLogging(json_log);
  WarnAboutFewConnections(command_line, options);
  const absl::Status served = Serve(options);
  // A signal during the start asks for a clean stop, which is no failure.
  if (absl::IsCancelled(served)) {
    LogInfo("stopped before it was ready");
    return EXIT_SUCCESS;
  }
  if (!served.ok() && json_log) {
    // Programs that read the log as JSON find the reason there too.
    Log(LogLevel::kCritical, ToStd(served.message()));
    return EXIT_FAILURE;
  }
  return command_line.ExitCode(served);
}

}  // namespace
}  // namespace semrank

int main(int argc, char** argv) { return semrank::Main(argc, argv); }
