#include "server/server.h"

#include <algorithm>
#include <span>
#include <thread>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "model/base/simd_level.h"
#include "model/base/status_macros.h"
#include "model/base/thread_pool.h"
#include "server/api/json_api.h"
#include "server/event_options.h"
#include "server/http/http_origins.h"
#include "server/pages/pages.h"
#include "server/pages/status_page.h"
#include "server/rpc/memory_watchdog.h"
#include "server/state_metrics.h"
#include "server/stores/redis_document_store.h"
#include "server/stores/rocksdb_document_store.h"
#include "server/supervisor.h"
#include "server/warm_up.h"

namespace semrank {
namespace {

// This file connects the parts and decides the order of start and stop; each
// part knows nothing of the others but the pointers that it gets here. The
// order of construction is that of the members in server.h.

// How long the start waits for Redis.
constexpr absl::Duration kFirstAnswer = absl::Seconds(5);
// How often to look for a missing model when the poll interval is longer or 0.
constexpr absl::Duration kMaxRetryInterval = absl::Seconds(1);
// How long a stop may exceed its deadline before the watchdog ends it.
constexpr absl::Duration kStopSlack = absl::Seconds(5);
// Part of it: time for JSON calls to send that they were cancelled.
constexpr absl::Duration kCancelTime = absl::Seconds(1);
// Writing the queued vectors and events takes seconds at most.
constexpr absl::Duration kMaxClosing = absl::Seconds(10);

// Null for --store=none. A store that cannot be used is an error, also a Redis
// that does not answer: without its documents the catalog would be empty, and
// known ids would be unknown.
absl::StatusOr<std::unique_ptr<DocumentStore>> OpenStore(
    const StoreOptions& options) {
  std::unique_ptr<DocumentStore> store;
  if (options.redis.has_value()) {
    store = std::make_unique<RedisDocumentStore>(
        RedisDocumentStore::Options{*options.redis});
    // An empty look-up connects and logs in: a wrong address or password ends
    // the start instead of bypassing the store for ever.
    SEMRANK_RETURN_IF_ERROR(
        store->FindVectors({}, {}, kFirstAnswer, nullptr, {}).status());
  } else if (!options.rocksdb_path.empty()) {
    SEMRANK_ASSIGN_OR_RETURN(
        store,
        RocksDbDocumentStore::Open({.path = options.rocksdb_path,
                                    .max_vector_bytes = options.vector_bytes}));
  }
  if (store != nullptr) {
    LogInfo("using the document store %s", store->name());
  }
  return store;
}

std::unique_ptr<StoredVectors> UseStoreForVectors(absl::Duration time_limit,
                                                  DocumentStore* store,
                                                  Metrics* metrics) {
  if (store == nullptr) return nullptr;
  return std::make_unique<StoredVectors>(
      store, metrics,
      StoredVectors::Options{
          .time_limit = time_limit,
          .on_change = [name = store->name()](const absl::Status& status) {
            if (status.ok()) {
              LogInfo("%s answers again and is in use", name);
            } else {
              LogWarning("the document store is bypassed: %s",
                         status.message());
            }
          }});
}

std::unique_ptr<EventLog> StartEventLog(std::unique_ptr<OpenedEvents> opened,
                                        EventLog::Options options,
                                        Metrics& metrics) {
  if (opened == nullptr) return nullptr;
  return std::make_unique<EventLog>(std::move(opened->sink), opened->hash,
                                    std::move(options), metrics);
}

std::vector<ModelChoice> ModelChoices(const ModelOptions& options) {
  std::vector<ModelChoice> choices;
  for (const ServedFolder& folder : options.folders) {
    choices.push_back(
        {FolderSource(folder.path, folder.name, options.vector_precision),
         folder.version, folder.aliases});
  }
  return choices;
}

// A version that is still being copied is not a failure: only one that is
// refused needs an operator.
void LogModelLoad(const ModelLoad& load) {
  if (load.incomplete) return LogInfo("%s", load.status.message());
  if (load.model == nullptr) {
    LogError("model %s version %d is refused: %s", load.name, load.version,
             load.status.message());
    return;
  }
  const TwoTowerModel& model = *load.model->model;
  const std::int64_t before = load.previous_version;
  LogInfo("%s model %s version %d%s, %d dimensions, identity %s",
          before == 0             ? "loaded"
          : load.version < before ? "rolled back"
                                  : "reloaded",
          load.name, load.version,
          before == 0 ? "" : absl::StrFormat(" in place of %d", before),
          model.embedding_dim(), model.version().identity);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Create(
    const ServerOptions& options, ServerSubstitutes substitutes) {
  // What fails at once comes before the store and the sink of events, which may
  // be on other machines and take seconds to fail.
  SEMRANK_ASSIGN_OR_RETURN(
      auto secrets,
      Secrets::Load(options.security.api_keys_file, options.security.tls));
  SEMRANK_ASSIGN_OR_RETURN(auto cache,
                           DocumentVectorCache::Create(options.cache_bytes));
  if (substitutes.store == nullptr) {
    SEMRANK_ASSIGN_OR_RETURN(substitutes.store, OpenStore(options.store));
  }
  SEMRANK_ASSIGN_OR_RETURN(auto events, OpenEvents(options.events));
  substitutes.events.text = options.events.text;
  if (substitutes.models.empty()) {
    substitutes.models = ModelChoices(options.models);
  }
  if (substitutes.workers.num_threads == 0) {
    substitutes.workers.num_threads = NumUsableProcessors();
  }
  substitutes.workers.max_wait = options.limits.max_queue_wait;
  substitutes.workers.max_share_per_caller =
      options.limits.max_share_per_caller;
  // Whatever can fail has been created, so the constructor cannot fail.
  return std::unique_ptr<Server>(
      new Server(options, std::move(substitutes), std::move(secrets),
                 std::move(cache), std::move(events)));
}

Server::Server(const ServerOptions& options, ServerSubstitutes substitutes,
               std::unique_ptr<Secrets> secrets,
               std::unique_ptr<DocumentVectorCache> cache,
               std::unique_ptr<OpenedEvents> events)
    : options_(options),
      parts_only_(substitutes.parts_only),
      secrets_(std::move(secrets)),
      admission_(options.limits.max_inflight_texts,
                 options.limits.max_share_per_caller),
      connections_(options.limits.max_connections,
                   options.limits.max_share_per_caller),
      unread_(MaxUnreadBytes(options.limits)),
      cache_(std::move(cache)),
      models_(std::move(substitutes.models), &metrics_,
              // `published` runs after the pointer swap. Requests that still
              // use the old model may miss in the cache then; they never get
              // vectors of another model, since keys contain its number.
              {.loaded = parts_only_ ? nullptr : &LogModelLoad,
               .published =
                   [this](std::span<const std::uint32_t> current) {
                     cache_->DropModelsExcept(current);
                   }}),
      store_(std::move(substitutes.store)),
      stored_(
          UseStoreForVectors(options.store.timeout, store_.get(), &metrics_)),
      events_(StartEventLog(std::move(events), std::move(substitutes.events),
                            metrics_)),
      embedder_(cache_.get(), &metrics_, stored_.get()),
      catalog_(options.max_catalog_documents, {.limits = options.limits,
                                               .embedder = &embedder_,
                                               .metrics = &metrics_,
                                               .store = store_.get()}),
      ranking_(options.limits, &embedder_, &metrics_, &catalog_.documents),
      embedding_(options.limits, &embedder_, &metrics_),
      workers_(substitutes.workers),
      // Writes wait for the store, so they have threads apart from those of
      // searches and rankings.
      writers_(std::move(substitutes.workers)),
      // One thread loads one model after another, however many calls of
      // ReloadModel wait.
      loader_(1),
      shadow_(StartShadow(options.experiments)),
      request_log_({.slow_threshold = options.slow_request_threshold,
                    .access_share = options.access_log},
                   std::move(substitutes.log_request)),
      recent_calls_(&metrics_, absl::Now()),
      parts_{.limits = options.limits,
             .ranking = &ranking_,
             .embedding = &embedding_,
             .catalog = &catalog_,
             .models = &models_,
             .lifecycle = &lifecycle_,
             .admission = &admission_,
             .connections = &connections_,
             .unread = &unread_,
             .workers = &workers_,
             .writers = &writers_,
             .loader = &loader_,
             .metrics = &metrics_,
             .recent_calls = &recent_calls_,
             .cache = cache_.get(),
             .stored = stored_.get(),
             .events = events_.get(),
             .experiments = options.experiments.lists,
             .shadow = shadow_.get(),
             .certificates = secrets_->tls(),
             .access = secrets_->access(),
             .request_log = &request_log_,
             .admin_rpcs = options.models.enable_admin_rpcs} {
  AddProcessMetrics(metrics_);
  AddStateMetrics(parts_, metrics_);
}

std::unique_ptr<ShadowRanker> Server::StartShadow(
    const ExperimentOptions& options) {
  if (options.shadow_model.empty()) return nullptr;
  return std::make_unique<ShadowRanker>(
      ShadowRanker::Options{
          .model = options.shadow_model,
          .share = options.shadow_share,
          // A shadow ranking must cost no caller anything, so it gives way to
          // both pools.
          .callers_wait =
              [this] { return workers_.has_queue() || writers_.has_queue(); },
          .num_processors = NumUsableProcessors()},
      options_.limits, &models_, &catalog_.documents, &metrics_);
}

absl::Status Server::Start(const StartControl& control) {
  // Ports come first: one in use is reported at once, and not after minutes of
  // loading.
  if (!parts_only_) SEMRANK_RETURN_IF_ERROR(Listen());
  SEMRANK_RETURN_IF_ERROR(LoadFirstModels(control));
  if (parts_only_) {
    lifecycle_.Advance(Lifecycle::State::kServing);
    return catalog_.update.Follow([this] { return models_.current(); });
  }
  SEMRANK_RETURN_IF_ERROR(catalog_.Start(&models_, control.cancelled));
  if (!options_.warm_catalog.empty()) {
    SEMRANK_RETURN_IF_ERROR(
        WarmUp(options_.warm_catalog, models_, embedding_, control.cancelled));
  }
  if (control.cancelled()) {
    return absl::CancelledError("stopped while starting");
  }
  model_watch_ = std::make_unique<PeriodicTask>(options_.models.poll_interval,
                                                [this] { LookForModels(); });
  // When all workers are stuck, no heartbeat is sent, and systemd restarts the
  // server.
  heartbeat_ = std::make_unique<PeriodicTask>(
      ServiceWatchdogInterval(), [this] { workers_.Submit(&NotifyAlive); });
  // The state precedes ReportReady: a client that hears SERVING must not be
  // refused.
  lifecycle_.Advance(Lifecycle::State::kServing);
  ReportReady();
  return absl::OkStatus();
}

void Server::Reload() {
  reload_asked_ = true;
  model_watch_->RunNow();
}

void Server::LookForModels() {
  // The next look reports a reload that is asked for during this one.
  const bool is_reload = reload_asked_.exchange(false);
  const std::vector<ServedModelPtr> before = models_.CurrentModels();
  // LogModelLoad has reported what failed.
  models_.Refresh().IgnoreError();
  if (!is_reload) return;
  // Secrets looks at its files every second by itself. This look makes the
  // answer to SIGHUP complete: the line says what is in force from here on.
  std::vector<std::string> reloaded = secrets_->Refresh();
  for (const ServedModelPtr& model : models_.CurrentModels()) {
    if (std::ranges::count(before, model) > 0) continue;
    const ModelVersion& version = model->model->version();
    reloaded.push_back(
        absl::StrFormat("model %s version %d", version.name, version.version));
  }
  LogInfo("SIGHUP: %s",
          reloaded.empty()
              ? "nothing new: models, API keys and certificates stay"
              : "reloaded " + absl::StrJoin(reloaded, ", "));
}

// Adds to `calls` those that pages make.
HttpPages Server::MakePages(HttpCalls& calls) {
  HttpPages pages = OperatorPages(&lifecycle_, &metrics_);
  AddOpenApi(pages);
  // Probes and scrapers have their paths whatever --pages says.
  if (!options_.pages) return pages;
  AddStatusPage(parts_, pages);
  AddBrowserPages({.grpc_address = rpc_->address(),
                   .needs_key = secrets_->access() != nullptr,
                   .keeps_events = events_ != nullptr,
                   .max_top_k = options_.limits.max_top_k},
                  pages, calls);
  return pages;
}

absl::Status Server::Listen() {
  sampler_ = std::make_unique<PeriodicTask>(
      RecentCalls::kInterval, [this] { recent_calls_.Sample(absl::Now()); });
  const SecurityOptions& security = options_.security;
  const TlsCertificates* const tls = secrets_->tls();
  SEMRANK_ASSIGN_OR_RETURN(
      rpc_,
      RpcServer::Start({.listen_address = options_.listen_address,
                        .tls = tls,
                        .max_connection_age = options_.max_connection_age,
                        .max_memory_bytes = options_.max_memory_bytes > 0
                                                ? options_.max_memory_bytes
                                                : DefaultMemoryLimit(),
                        .send_timeout = options_.limits.send_timeout},
                       parts_));
  // HTTP starts after gRPC and health after both. All of them answer at once,
  // with MODEL_LOADING or NOT_SERVING, because the state is still kLoading.
  // gRPC has its port by now, which the playground shows.
  HttpCalls calls = JsonApi(parts_, {options_.limits.max_http_body_bytes,
                                     HttpCallsAllowed(security)});
  HttpPages pages = MakePages(calls);
  SEMRANK_ASSIGN_OR_RETURN(
      http_, HttpServer::Start(
                 options_.http_address, std::move(pages), std::move(calls),
                 {.tls = tls,
                  .calls_need_certificate = HttpCallsNeedCertificate(security),
                  .cors_origins = security.cors_origins,
                  .served_hosts =
                      ServedHosts(options_.http_address, security.server_names,
                                  security.cors_origins),
                  .timeouts = {.response = options_.limits.send_timeout},
                  .min_body_rate = options_.limits.min_body_rate,
                  // As many whole bodies as a caller may have calls.
                  .max_unfinished_bytes = kMaxHttpCallsPerCaller *
                                          options_.limits.max_http_body_bytes,
                  .max_share_per_caller = options_.limits.max_share_per_caller,
                  .access = secrets_->access(),
                  .unread = &unread_,
                  .connections = &connections_}));
  if (!security.health_address.empty()) {
    SEMRANK_ASSIGN_OR_RETURN(
        health_, HealthServer::Start(security.health_address, lifecycle_));
  }
  LogInfo("listening, not ready yet: %s", addresses());
  return absl::OkStatus();
}

// The store of models remembers what failed, so a model that is being copied
// costs one log line, however long this waits.
absl::Status Server::LoadFirstModels(const StartControl& control) {
  const ModelOptions& options = options_.models;
  absl::Status status = models_.Refresh(control.cancelled);
  if (status.ok() || absl::IsCancelled(status) || !options.wait_for_model) {
    return status;
  }
  LogWarning("waiting for a model: %s", status.message());
  const absl::Duration interval =
      options.poll_interval > absl::ZeroDuration()
          ? std::min(options.poll_interval, kMaxRetryInterval)
          : kMaxRetryInterval;
  while (!status.ok() && !absl::IsCancelled(status)) {
    control.wait(interval);
    status = models_.Refresh(control.cancelled);
  }
  return status;
}

std::string Server::addresses() const {
  std::string addresses =
      absl::StrFormat("grpc=%s http=%s", rpc_->address(), http_->address());
  if (health_ != nullptr) addresses += " health=" + health_->address();
  return addresses;
}

void Server::ReportReady() {
  rpc_->ReportServing();
  if (health_ != nullptr) health_->ReportServing();
  LogInfo("ready: %s simd=%s threads=%d", addresses(), SimdLevel(),
          workers_.num_threads());
  NotifyReady("ready " + addresses());
}

bool Server::Stop(absl::Time deadline) {
  const bool all_ended = Drain(deadline);
  LogInfo("stopped; running calls %s",
          all_ended ? "ended" : "had to be cancelled");
  // No call embeds or reports any more; what is in the queues is still written.
  const Watchdog watchdog(kMaxClosing);
  // The catalog comes first: its threads embed with what is reset after it. The
  // ports are closed, so no scrape reads the counts of these parts any more.
  catalog_.Stop();
  stored_.reset();
  events_.reset();
  return all_ended;
}

bool Server::Drain(absl::Time deadline) {
  const Watchdog watchdog(deadline - absl::Now() + kStopSlack);
  NotifyStopping();
  // From here on readiness and health report it.
  lifecycle_.Advance(Lifecycle::State::kDraining);
  rpc_->ReportNotServing();
  if (health_ != nullptr) health_->ReportNotServing();
  // Load balancers notice only at their next probe; calls are answered until
  // then.
  std::this_thread::sleep_for(absl::ToChronoNanoseconds(options_.drain_delay));
  lifecycle_.Advance(Lifecycle::State::kStopping);
  // gRPC and HTTP share the deadline, so HTTP gets what gRPC has left of it.
  bool all_ended = rpc_->Stop(deadline - absl::Now());
  all_ended &= http_->WaitForCalls(deadline);
  lifecycle_.Advance(Lifecycle::State::kEnding);
  if (!all_ended) http_->WaitForCalls(absl::Now() + kCancelTime);
  // Joins the handlers, which use the parts that are destroyed next.
  http_.reset();
  // Health watches end with the servers, so that probes saw the last state.
  health_.reset();
  rpc_.reset();
  return all_ended;
}

}  // namespace semrank
