// semrank-server: see kUsage.
#include <spdlog/spdlog.h>

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/program.h"
#include "model/base/status_macros.h"
#include "model/base/thread_pool.h"
#include "server/core/periodic_task.h"
#include "server/core/process_metrics.h"
#include "server/core/request_log.h"
#include "server/core/state_metrics.h"
#include "server/http/http_server.h"
#include "server/http/operator_pages.h"
#include "server/http/status_page.h"
#include "server/json_api.h"
#include "server/logging.h"
#include "server/model_loading.h"
#include "server/options.h"
#include "server/rpc/health_server.h"
#include "server/rpc/rpc_server.h"
#include "server/secrets.h"
#include "server/stop.h"

namespace semrank {
namespace {

constexpr std::string_view kUsage =
    R"(semrank-server --model_dir=DIR [--listen_address=HOST:PORT] [--http_address=HOST:PORT]

Answers semrank.v1 over gRPC, and over HTTP POST /v1/rank and /v1/embed (JSON),
/metrics, /healthz, /readyz and, for people, /statusz. Once ready it prints one line on standard output:
  semrank-server ready grpc=HOST:PORT http=HOST:PORT
SIGTERM or Ctrl-C ends it after the running calls; a second one at once.
New versions of a model are served as they appear; SIGHUP looks for them now.

  semrank-server --model_dir=models/shop
  semrank-server --model_dir=shop=models/shop,news=models/news --model_version=shop=3
  semrank-server --model_dir=models/shop --listen_address=0.0.0.0:50051 --drain_delay=5s
)";
constexpr ProgramInfo kProgram = {"semrank-server",
                                  "ranks documents for queries over gRPC",
                                  kUsage, "server/"};

// What a stop may take beyond its flags before it counts as hanging.
constexpr absl::Duration kStopSlack = absl::Seconds(5);

// `health` null = it has no listener of its own.
void PrintReady(const RpcServer& rpc, const HttpServer& http,
                const HealthServer* health) {
  absl::PrintF("semrank-server ready grpc=%s http=%s", rpc.address(),
               http.address());
  if (health != nullptr) absl::PrintF(" health=%s", health->address());
  absl::PrintF("\n");
  std::fflush(stdout);
}

void Drain(const ServerOptions& options, Lifecycle& lifecycle, RpcServer& rpc,
           HealthServer* health) {
  const Watchdog watchdog(options.drain_delay + options.drain_timeout +
                          kStopSlack);
  lifecycle.Advance(Lifecycle::State::kDraining);
  rpc.ReportNotServing();
  if (health != nullptr) health->ReportNotServing();
  std::this_thread::sleep_for(absl::ToChronoNanoseconds(options.drain_delay));
  lifecycle.Advance(Lifecycle::State::kStopping);
  const bool all_ended = rpc.Stop(options.drain_timeout);
  spdlog::info("stopped; running calls {}",
               all_ended ? "ended" : "had to be cancelled");
}

absl::Status Serve(const ServerOptions& options) {
  SEMRANK_ASSIGN_OR_RETURN(const auto secrets, Secrets::Load(options.security));
  Lifecycle lifecycle;
  Metrics metrics;
  Admission admission(options.limits.max_inflight_texts);
  SEMRANK_ASSIGN_OR_RETURN(const auto cache,
                           DocumentVectorCache::Create(options.cache_bytes));
  AddProcessReadings(metrics);
  AddCacheReadings(*cache, metrics);
  AddAdmissionReadings(admission, metrics);
  ModelStore models(ModelChoices(options.models), cache.get(), &metrics,
                    LogModelLoad);
  const RankingEngine engine(options.limits, cache.get(), &metrics);
  WorkerPool workers(NumUsableProcessors());
  WorkerPool loader(1);
  RequestLog request_log(
      options.log.slow_request_threshold,
      [](const std::string& line) { spdlog::warn("{}", line); });
  const RpcEnvironment environment = {
      .engine = &engine,
      .models = &models,
      .lifecycle = &lifecycle,
      .admission = &admission,
      .workers = &workers,
      .loader = &loader,
      .metrics = &metrics,
      .access = secrets->access(),
      .request_log = &request_log,
      .admin_rpcs = options.models.enable_admin_rpcs};
  HttpPages pages = OperatorPages(&lifecycle, &metrics);
  AddStatusPage({&lifecycle, &models, cache.get(), &admission, &options.limits,
                 &request_log},
                pages);
  SEMRANK_ASSIGN_OR_RETURN(
      const auto http,
      HttpServer::Start(options.http_address, std::move(pages),
                        JsonApi(environment, options.max_http_body_bytes)));

  const absl::Status loaded = LoadFirstModels(options.models, models);
  if (absl::IsCancelled(loaded)) return absl::OkStatus();
  SEMRANK_RETURN_IF_ERROR(loaded);
  const RpcServerOptions rpc_options = {
      options.listen_address, MaxRequestBytes(options.limits), secrets->tls()};
  SEMRANK_ASSIGN_OR_RETURN(const auto rpc,
                           RpcServer::Start(rpc_options, environment));
  std::unique_ptr<HealthServer> health;
  if (!options.security.health_address.empty()) {
    SEMRANK_ASSIGN_OR_RETURN(
        health, HealthServer::Start(options.security.health_address));
  }
  PeriodicTask watcher(options.models.poll_interval,
                       [&] { models.Refresh().IgnoreError(); });
  lifecycle.Advance(Lifecycle::State::kServing);
  PrintReady(*rpc, *http, health.get());

  const int signal_number = WaitForStopSignal([&] { watcher.Hurry(); });
  spdlog::info("signal {}: draining", signal_number);
  Drain(options, lifecycle, *rpc, health.get());
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  BlockSignals();
  if (!ParseCommandLine(kProgram, argc, argv).empty()) {
    return ExitCode(kProgram, UsageError("takes flags only"));
  }
  const absl::StatusOr<ServerOptions> options = OptionsFromFlags();
  if (!options.ok()) return ExitCode(kProgram, options.status());
  if (options->check_config) {
    absl::PrintF("%s", DescribeOptions(*options));
    return kExitDone;
  }
  InitLogging(options->log.format == "json");
  return ExitCode(kProgram, Serve(*options));
}

}  // namespace
}  // namespace semrank

int main(int argc, char** argv) { return semrank::Main(argc, argv); }
