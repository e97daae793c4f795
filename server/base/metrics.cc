#include "server/base/metrics.h"

#include <prometheus/family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <utility>

#include "model/base/version.h"
#include "server/base/errors.h"

namespace semrank {
namespace {

// In the order of Phase. The label of the metric is "stage", a published name.
constexpr std::array<const char*, kNumPhases> kPhaseLabels = {
    "queue", "read", "parse", "cache", "embed", "score", "serialize"};
// In the order of absl::StatusCode, whose numbers are gRPC's. Public dashboards
// expect the spelling of go-grpc-prometheus.
constexpr std::array<const char*, kNumStatusCodes> kCodeLabels = {
    "OK",
    "Canceled",
    "Unknown",
    "InvalidArgument",
    "DeadlineExceeded",
    "NotFound",
    "AlreadyExists",
    "PermissionDenied",
    "ResourceExhausted",
    "FailedPrecondition",
    "Aborted",
    "OutOfRange",
    "Unimplemented",
    "Internal",
    "Unavailable",
    "DataLoss",
    "Unauthenticated"};
// A fixed list keeps the number of time series bounded. A reason that is
// missing here is not counted as a rejection: it is an error of the request,
// which grpc_server_handled_total has.
constexpr const char* kRejectReasons[] = {
    "OVERLOADED",        "CALLER_SHARE",       "DEADLINE_EXCEEDED",
    "CANCELLED",         "MODEL_LOADING",      "DRAINING",
    "MISSING_KEY",       "UNKNOWN_KEY",        "ROLE_REQUIRED",
    "MESSAGE_TOO_LARGE", "METADATA_TOO_LARGE", "MISSING_CERTIFICATE",
    "HTTP_CALLS_OFF",    "ORIGIN_NOT_ALLOWED"};

// The buckets of gRPC's own latency metrics (proposal A66), in seconds.
const prometheus::Histogram::BucketBoundaries& CallBuckets() {
  static const prometheus::Histogram::BucketBoundaries buckets = {
      .00001, .00005, .0001, .0003, .0006, .0008, .001, .002, .003, .004,
      .005,   .006,   .008,  .01,   .013,  .016,  .02,  .025, .03,  .04,
      .05,    .065,   .08,   .1,    .13,   .16,   .2,   .25,  .3,   .4,
      .5,     .65,    .8,    1,     2,     5,     10,   20,   50,   100};
  return buckets;
}

// The last bucket is the largest batch that an embedder gives a tower.
const prometheus::Histogram::BucketBoundaries& BatchBuckets() {
  static const prometheus::Histogram::BucketBoundaries buckets = {
      1, 2, 4, 8, 16, 32, 64, 128, 256};
  return buckets;
}

// Undefined codes count as Unknown.
int NumberOf(absl::StatusCode code) {
  const int number = static_cast<int>(code);
  const bool known = number >= 0 && number < kNumStatusCodes;
  return known ? number : static_cast<int>(absl::StatusCode::kUnknown);
}

}  // namespace

const prometheus::Histogram::BucketBoundaries& Metrics::PhaseBuckets() {
  static const prometheus::Histogram::BucketBoundaries buckets = {
      1e-6, 2.5e-6, 5e-6, 1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3,
      5e-3, .01,    .025, .05,  .1,     .25,  .5,   1,      2.5,  5,    10};
  return buckets;
}

// Children with fixed labels are created here, once: Family::Add takes a lock
// and hashes its labels, which would cost more than the count itself.
Metrics::Metrics() {
  started_ = &CounterFamily("grpc_server_started_total",
                            "Calls that reached a method.");
  handled_ = &CounterFamily("grpc_server_handled_total",
                            "Calls that ended, by status code.");
  handling_seconds_ = &HistogramFamily(
      "grpc_server_handling_seconds",
      "Time from a call's arrival to its status, whatever the outcome.");
  received_ = &CounterFamily("grpc_server_msg_received_total",
                             "Messages received on streams.");
  sent_ =
      &CounterFamily("grpc_server_msg_sent_total", "Messages sent on streams.");
  answered_ =
      &CounterFamily("semrank_stream_requests_total",
                     "Requests on streams that were answered, by status code.");
  auto& stages = HistogramFamily("semrank_stage_duration_seconds",
                                 "Time that a request spent in one stage.");
  for (int i = 0; i < kNumPhases; ++i) {
    phase_seconds_[i] =
        &stages.Add({{"stage", kPhaseLabels[i]}}, PhaseBuckets());
  }
  auto& embedded = CounterFamily("semrank_texts_embedded_total",
                                 "Texts that went through a tower.");
  auto& batches = HistogramFamily("semrank_batch_texts",
                                  "Texts that went through a tower together.");
  for (const int place : {0, 1}) {
    const prometheus::Labels side = {
        {"side", place == 0 ? "query" : "document"}};
    texts_embedded_[place] = &embedded.Add(side);
    batch_texts_[place] = &batches.Add(side, BatchBuckets());
  }
  auto& cache =
      CounterFamily("semrank_cache_requests_total",
                    "Document vectors looked up in the memory cache.");
  cache_hits_ = &cache.Add({{"result", "hit"}});
  cache_misses_ = &cache.Add({{"result", "miss"}});
  auto& rejected =
      CounterFamily("semrank_requests_rejected_total",
                    "Requests refused, or dropped before they were done.");
  for (const char* reason : kRejectReasons) {
    rejected_[reason] = &rejected.Add({{"reason", reason}});
  }
  key_texts_ = &CounterFamily(
      "semrank_caller_texts_total",
      "Texts of requests that were answered, by the name of the caller's key.");
  key_over_share_ = &CounterFamily(
      "semrank_caller_share_refusals_total",
      "Requests refused because their caller had more than its share, by the "
      "name of its key.");
  const auto counter = [this](const char* name, const char* help) {
    return &CounterFamily(name, help).Add({});
  };
  documents_put_ = counter("semrank_catalog_documents_put_total",
                           "Documents put into the catalog.");
  documents_deleted_ = counter("semrank_catalog_documents_deleted_total",
                               "Documents deleted from the catalog.");
  searches_ = counter("semrank_catalog_searches_total",
                      "Searches of the whole catalog.");
  documents_searched_ =
      counter("semrank_catalog_documents_searched_total",
              "Documents scored by searches of the whole catalog.");
  auto& loads =
      CounterFamily("semrank_model_load_total", "Attempts to load a model.");
  loads_ok_ = &loads.Add({{"result", "ok"}});
  loads_failed_ = &loads.Add({{"result", "failed"}});
  model_info_ = &GaugeFamily("semrank_model_info",
                             "The current models, by the SHA-256 of "
                             "their MANIFEST.json; always 1.");
  loaded_timestamp_seconds_ = &GaugeFamily(
      "semrank_model_loaded_timestamp_seconds",
      "When the current model became ready, in seconds since 1970.");
  created_timestamp_seconds_ = &GaugeFamily(
      "semrank_model_created_timestamp_seconds",
      "When the training of the current model ended, or when it became ready "
      "if it does not say that; in seconds since 1970.");
  rejected_versions_ = &GaugeFamily(
      "semrank_model_rejected_versions",
      "Versions that the trainer did not publish because they are worse.");
  GaugeFamily("semrank_build_info", "The running program; always 1.")
      .Add({{"version", std::string(Version())}, {"compiler", __VERSION__}})
      .Set(1);
}

prometheus::Family<prometheus::Counter>& Metrics::CounterFamily(
    const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry_);
}

prometheus::Family<prometheus::Histogram>& Metrics::HistogramFamily(
    const char* name, const char* help) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry_);
}

prometheus::Family<prometheus::Gauge>& Metrics::GaugeFamily(const char* name,
                                                            const char* help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry_);
}

void Metrics::Rpc::Handled(absl::StatusCode code, absl::Duration time) const {
  // Slow failures are in the histogram too: a server that times out must not
  // look fast.
  handled_[NumberOf(code)]->Increment();
  handling_seconds_->Observe(absl::ToDoubleSeconds(time));
}

Metrics::Rpc Metrics::AddRpc(std::string_view service, std::string_view method,
                             std::string_view type) {
  prometheus::Labels labels = {{"grpc_type", std::string(type)},
                               {"grpc_service", std::string(service)},
                               {"grpc_method", std::string(method)}};
  Rpc rpc;
  rpc.name_ = std::string(service) + "/" + std::string(method);
  rpc.type_ = type;
  rpc.started_ = &started_->Add(labels);
  rpc.handling_seconds_ = &handling_seconds_->Add(labels, CallBuckets());
  // Every code exists from the start, at 0. A counter that appears with its
  // first error would hide that error from rate().
  for (int i = 0; i < kNumStatusCodes; ++i) {
    labels["grpc_code"] = kCodeLabels[i];
    rpc.handled_[i] = &handled_->Add(labels);
  }
  // Several HTTP paths may be one method. Family::Add returns the same child
  // for the same labels, so equal pointers mean one method, and Calls lists the
  // method once.
  const MutexLock lock(mutex_);
  const bool known = std::ranges::any_of(rpcs_, [&](const Rpc& other) {
    return other.handling_seconds_ == rpc.handling_seconds_;
  });
  if (!known) rpcs_.push_back(rpc);
  return rpc;
}

std::vector<CallTotals> Metrics::Calls() const {
  const MutexLock lock(mutex_);
  std::vector<CallTotals> calls;
  for (const Rpc& rpc : rpcs_) {
    CallTotals& totals =
        calls.emplace_back(CallTotals{.name = rpc.name_, .type = rpc.type_});
    // Histogram and counters are not read at one instant; Handled counts first,
    // so num_failed may be ahead of num_calls by the calls that end between the
    // reads.
    const prometheus::ClientMetric metric = rpc.handling_seconds_->Collect();
    totals.num_calls = metric.histogram.sample_count;
    for (const auto& bucket : metric.histogram.bucket) {
      totals.num_up_to.push_back(bucket.cumulative_count);
      totals.bounds.push_back(bucket.upper_bound);
    }
    // The last bucket is +Inf.
    totals.num_up_to.pop_back();
    totals.bounds.pop_back();
    // The loop begins at 1, because code 0 is OK.
    for (int i = 1; i < kNumStatusCodes; ++i) {
      totals.num_failed += static_cast<std::uint64_t>(rpc.handled_[i]->Value());
    }
  }
  return calls;
}

void Metrics::Stream::CountAnswer(absl::StatusCode code) const {
  answered[NumberOf(code)]->Increment();
}

Metrics::Stream Metrics::AddStream(std::string_view service,
                                   std::string_view method) {
  prometheus::Labels labels = {{"grpc_service", std::string(service)},
                               {"grpc_method", std::string(method)}};
  Stream stream;
  for (int i = 0; i < kNumStatusCodes; ++i) {
    labels["grpc_code"] = kCodeLabels[i];
    stream.answered[i] = &answered_->Add(labels);
  }
  labels.erase("grpc_code");
  labels["grpc_type"] = "bidi_stream";
  stream.rpc = AddRpc(service, method, labels["grpc_type"]);
  stream.received = &received_->Add(labels);
  stream.sent = &sent_->Add(labels);
  return stream;
}

void Metrics::CountRejected(const absl::Status& status) {
  const auto counter = rejected_.find(ErrorReason(status));
  if (counter != rejected_.end()) counter->second->Increment();
}

void Metrics::CountCaller(std::string_view key, std::int64_t num_texts,
                          const absl::Status& status) {
  // Other failures are counted elsewhere; and names of unknown keys, of which
  // there may be any number, never come here.
  if (key.empty()) return;
  const bool over_share = !status.ok() && ErrorReason(status) == "CALLER_SHARE";
  if (!status.ok() && !over_share) return;
  const MutexLock lock(keys_mutex_);
  const KeyCounters& counters = CountersOf(key);
  if (status.ok()) counters.texts->Increment(static_cast<double>(num_texts));
  if (over_share) counters.over_share->Increment();
}

Metrics::KeyCounters& Metrics::CountersOf(std::string_view key) {
  auto found = keys_.find(key);
  if (found != keys_.end()) return found->second;
  if (keys_.size() >= kMaxKeyLabels && key != "other") {
    return CountersOf("other");
  }
  const prometheus::Labels labels = {{"key", std::string(key)}};
  const KeyCounters counters = {&key_texts_->Add(labels),
                                &key_over_share_->Add(labels)};
  return keys_.emplace(key, counters).first->second;
}

void Metrics::SetModel(const ModelVersion& version, int embedding_dim,
                       absl::Time load_time, absl::Time create_time) {
  // The old version's series is removed, so exactly one exists for each name
  // and a dashboard can join on it.
  MutexLock lock(mutex_);
  prometheus::Gauge*& info = current_model_info_[version.name];
  if (info != nullptr) model_info_->Remove(info);
  info = &model_info_->Add({{"name", version.name},
                            {"version", std::to_string(version.version)},
                            {"sha256", version.identity},
                            {"dim", std::to_string(embedding_dim)}});
  info->Set(1);
  loaded_timestamp_seconds_->Add({{"name", version.name}})
      .Set(static_cast<double>(absl::ToUnixMillis(load_time)) / 1e3);
  created_timestamp_seconds_->Add({{"name", version.name}})
      .Set(static_cast<double>(absl::ToUnixSeconds(create_time)));
}

void Metrics::AddGauge(std::string name, std::string help, Read read) {
  MutexLock lock(mutex_);
  readings_.push_back({std::move(name), std::move(help),
                       prometheus::MetricType::Gauge, std::move(read)});
}

void Metrics::AddCounter(std::string name, std::string help, Read read) {
  MutexLock lock(mutex_);
  readings_.push_back({std::move(name), std::move(help),
                       prometheus::MetricType::Counter, std::move(read)});
}

prometheus::MetricFamily Metrics::ToFamily(const Reading& reading) {
  prometheus::MetricFamily family;
  family.name = reading.name;
  family.help = reading.help;
  family.type = reading.type;
  // A reading has no labels. Both values are set, since only the one that the
  // family's type names is rendered.
  prometheus::ClientMetric& metric = family.metric.emplace_back();
  metric.gauge.value = metric.counter.value = reading.read();
  return family;
}

std::string Metrics::Render() const {
  // The registry locks for itself. Readings run under the mutex, so they must
  // not add metrics.
  std::vector<prometheus::MetricFamily> families = registry_.Collect();
  std::string page;
  {
    const MutexLock lock(mutex_);
    std::ranges::transform(readings_, std::back_inserter(families), ToFamily);
    // A buffer that grows doubles, and the allocator keeps that memory for the
    // thread. Few numbers of a page get longer until the next one.
    page.reserve(last_page_bytes_ + last_page_bytes_ / 16);
  }
  std::ostringstream text(std::move(page));
  prometheus::TextSerializer().Serialize(text, families);
  page = std::move(text).str();
  const MutexLock lock(mutex_);
  last_page_bytes_ = page.size();
  return page;
}

}  // namespace semrank
