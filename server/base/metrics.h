// Every number that the server exports to Prometheus. All families and all
// known label sets exist from the start, at 0, so that rates are right from the
// first event on.
//
//   Units    seconds and bytes; counters end in _total.
//   Labels   have fixed sets of values, never a text, an id or a peer. One
//            label has the names of the first kMaxKeyLabels keys.
//   Threads  thread-safe; the Add methods are called before serving.
//   Cost     the label sets are resolved at the start; a count is an atomic
//            addition, an observation takes a short lock.
#ifndef SEMRANK_SERVER_BASE_METRICS_H_
#define SEMRANK_SERVER_BASE_METRICS_H_

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/metric_type.h>
#include <prometheus/registry.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "model/base/mutex.h"
#include "model/nn/two_tower_model.h"
#include "server/base/phase_times.h"

namespace semrank {

inline constexpr int kNumStatusCodes = 17;

// The calls of one method since the start.
struct CallTotals {
  std::string name = {};  // "semrank.v1.RankingService/Rank"
  std::string type = {};  // "unary", "http", ...
  std::uint64_t num_calls = 0;
  std::uint64_t num_failed = 0;
  // Calls that took at most bounds[i] seconds, ascending.
  std::vector<std::uint64_t> num_up_to = {};
  std::vector<double> bounds = {};
};

class Metrics {
 public:
  Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // The counters of one RPC method.
  class Rpc {
   public:
    void Started() const { started_->Increment(); }
    void Handled(absl::StatusCode code, absl::Duration time) const;
    // "semrank.v1.RankingService/Rank".
    const std::string& name() const { return name_; }

   private:
    friend class Metrics;
    std::string name_;
    std::string type_;
    prometheus::Counter* started_ = nullptr;
    std::array<prometheus::Counter*, kNumStatusCodes> handled_{};
    prometheus::Histogram* handling_seconds_ = nullptr;
  };
  // service "semrank.v1.RankingService", method "Rank", type "unary" or
  // "bidi_stream".
  Rpc AddRpc(std::string_view service, std::string_view method,
             std::string_view type);

  // The calls of all methods. Methods are only appended, so each keeps its
  // place.
  std::vector<CallTotals> Calls() const;

  // The counters of one streaming method: of its calls, and of their messages.
  struct Stream {
    void CountAnswer(absl::StatusCode code) const;

    Rpc rpc;
    prometheus::Counter* received = nullptr;
    prometheus::Counter* sent = nullptr;
    std::array<prometheus::Counter*, kNumStatusCodes> answered{};
  };
  Stream AddStream(std::string_view service, std::string_view method);

  void RecordPhase(Phase phase, absl::Duration time) {
    phase_seconds_[static_cast<int>(phase)]->Observe(
        absl::ToDoubleSeconds(time));
  }
  // Counts one batch that a tower embedded.
  void CountEmbedded(Side side, std::int64_t num_texts) {
    const int place = side == Side::kQuery ? 0 : 1;
    texts_embedded_[place]->Increment(static_cast<double>(num_texts));
    batch_texts_[place]->Observe(static_cast<double>(num_texts));
  }
  void CountCacheRequests(std::int64_t num_hits, std::int64_t num_misses) {
    cache_hits_->Increment(static_cast<double>(num_hits));
    cache_misses_->Increment(static_cast<double>(num_misses));
  }
  // Counts a request that was refused or dropped, by its reason. Other failures
  // are not counted here.
  void CountRejected(const absl::Status& status);
  // Counts a request by the name of its caller's key, for the first
  // kMaxKeyLabels names; others are "other". Callers without a key are not
  // counted.
  static constexpr std::size_t kMaxKeyLabels = 50;
  void CountCaller(std::string_view key, std::int64_t num_texts,
                   const absl::Status& status);
  void CountDocumentsPut(std::int64_t count) {
    documents_put_->Increment(static_cast<double>(count));
  }
  void CountDocumentsDeleted(std::int64_t count) {
    documents_deleted_->Increment(static_cast<double>(count));
  }
  // Counts one search over `num_documents`.
  void CountSearch(std::int64_t num_documents) {
    searches_->Increment();
    documents_searched_->Increment(static_cast<double>(num_documents));
  }
  void CountModelLoad(bool ok) {
    (ok ? loads_ok_ : loads_failed_)->Increment();
  }
  // The model replaces the one of the same name in semrank_model_info.
  void SetModel(const ModelVersion& version, int embedding_dim,
                absl::Time load_time, absl::Time create_time);
  // `name` is that of a served model.
  void SetNumRejected(const std::string& name, std::int64_t count) {
    rejected_versions_->Add({{"name", name}}).Set(static_cast<double>(count));
  }

  // Values that another part owns; Render reads them. The value of a counter
  // never falls.
  using Read = std::function<double()>;
  void AddGauge(std::string name, std::string help, Read read);
  void AddCounter(std::string name, std::string help, Read read);

  // Families that another part fills, under the rules above.
  prometheus::Family<prometheus::Counter>& CounterFamily(const char* name,
                                                         const char* help);
  prometheus::Family<prometheus::Histogram>& HistogramFamily(const char* name,
                                                             const char* help);
  // Buckets in seconds, from a cached look-up of a few titles to a large batch.
  static const prometheus::Histogram::BucketBoundaries& PhaseBuckets();

  // All metrics in Prometheus' text format, version 0.0.4.
  std::string Render() const;

 private:
  struct Reading {
    std::string name;
    std::string help;
    prometheus::MetricType type = prometheus::MetricType::Gauge;
    Read read;
  };
  static prometheus::MetricFamily ToFamily(const Reading& reading);
  prometheus::Family<prometheus::Gauge>& GaugeFamily(const char* name,
                                                     const char* help);

  prometheus::Registry registry_;
  prometheus::Family<prometheus::Counter>* started_;
  prometheus::Family<prometheus::Counter>* handled_;
  prometheus::Family<prometheus::Histogram>* handling_seconds_;
  prometheus::Family<prometheus::Counter>* received_;
  prometheus::Family<prometheus::Counter>* sent_;
  prometheus::Family<prometheus::Counter>* answered_;
  std::array<prometheus::Histogram*, kNumPhases> phase_seconds_;
  std::array<prometheus::Counter*, 2> texts_embedded_;
  std::array<prometheus::Histogram*, 2> batch_texts_;
  prometheus::Counter* cache_hits_;
  prometheus::Counter* cache_misses_;
  std::map<std::string, prometheus::Counter*, std::less<>> rejected_;
  prometheus::Counter* documents_put_;
  prometheus::Counter* documents_deleted_;
  prometheus::Counter* searches_;
  prometheus::Counter* documents_searched_;
  prometheus::Counter* loads_ok_;
  prometheus::Counter* loads_failed_;
  prometheus::Family<prometheus::Gauge>* loaded_timestamp_seconds_;
  prometheus::Family<prometheus::Gauge>* created_timestamp_seconds_;
  prometheus::Family<prometheus::Gauge>* rejected_versions_;

  mutable Mutex mutex_;
  std::vector<Rpc> rpcs_ ABSL_GUARDED_BY(mutex_);
  prometheus::Family<prometheus::Gauge>* model_info_ ABSL_GUARDED_BY(mutex_);
  // The counters of callers by the names of their keys.
  struct KeyCounters {
    prometheus::Counter* texts = nullptr;
    prometheus::Counter* over_share = nullptr;
  };
  KeyCounters& CountersOf(std::string_view key)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(keys_mutex_);
  prometheus::Family<prometheus::Counter>* key_texts_;
  prometheus::Family<prometheus::Counter>* key_over_share_;
  Mutex keys_mutex_;
  std::map<std::string, KeyCounters, std::less<>> keys_
      ABSL_GUARDED_BY(keys_mutex_);
  // The keys are names of models.
  std::map<std::string, prometheus::Gauge*> current_model_info_
      ABSL_GUARDED_BY(mutex_);
  std::vector<Reading> readings_ ABSL_GUARDED_BY(mutex_);
  mutable std::size_t last_page_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Counts the phases that ran.
inline void RecordPhases(const PhaseTimes& times, Metrics& metrics) {
  for (const Phase phase :
       {Phase::kParse, Phase::kCache, Phase::kEmbed, Phase::kScore}) {
    if (times[phase] > absl::ZeroDuration()) {
      metrics.RecordPhase(phase, times[phase]);
    }
  }
}

}  // namespace semrank

#endif  // SEMRANK_SERVER_BASE_METRICS_H_
