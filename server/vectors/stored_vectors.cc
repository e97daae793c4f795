#include "server/vectors/stored_vectors.h"

#include <prometheus/counter.h>
#include <prometheus/histogram.h>

#include <algorithm>
#include <array>
#include <utility>

#include "absl/time/clock.h"

// Requests call Find and Keep; one thread writes the queue and probes the
// store. A failed look-up or write opens the circuit breaker. While it is open,
// requests read one atomic and skip the store. Only a successful probe by the
// thread closes it.
namespace semrank {
namespace {

// About the number of texts that one call writes: requests with one missing
// title each would otherwise cost a round trip each.
constexpr std::size_t kBatchTexts = 1'024;

VectorSpace DocumentsOf(const TwoTowerModel& model) {
  return {model.version().identity, Side::kDocument, model.embedding_dim()};
}

std::size_t BytesOf(std::span<const std::string_view> texts, int dim) {
  std::size_t num_bytes = texts.size() * dim * sizeof(float);
  for (const std::string_view text : texts) num_bytes += text.size();
  return num_bytes;
}

std::vector<std::string_view> Views(const TextBatch& texts) {
  std::vector<std::string_view> views;
  views.reserve(texts.size());
  for (int i = 0; i < texts.size(); ++i) views.push_back(texts[i]);
  return views;
}

// A trial asks a store that failed whether it answers again.
enum class Call { kFind, kWrite, kTrial };
constexpr std::array kCallLabels = {"find", "write", "trial"};

enum class Outcome { kOk, kTimeout, kError };
constexpr std::array kOutcomeLabels = {"ok", "timeout", "error"};

Outcome OutcomeOf(const absl::Status& status) {
  if (status.ok()) return Outcome::kOk;
  return absl::IsDeadlineExceeded(status) ? Outcome::kTimeout : Outcome::kError;
}

// What became of a vector that was not in memory. The store had it, did not
// have it, or had it damaged; was bypassed; was not asked, since the caller has
// no time for it; or failed.
enum class Lookup { kHit, kMiss, kRefused, kBypassed, kNoTime, kFailed };
constexpr std::array kLookupLabels = {"hit",      "miss",    "refused",
                                      "bypassed", "no_time", "failed"};

// Why a new vector was not written.
enum class Drop { kQueueFull, kBypassed, kFailed };
constexpr std::array kDropLabels = {"queue_full", "bypassed", "failed"};

}  // namespace

// The calls of the store as metrics, which exist only if there is a store.
class StoredVectors::StoreMetrics {
 public:
  explicit StoreMetrics(Metrics* metrics) {
    auto& calls =
        metrics->CounterFamily("semrank_store_calls_total",
                               "Calls of the document store for vectors.");
    auto& seconds =
        metrics->HistogramFamily("semrank_store_call_duration_seconds",
                                 "Time of one call of the document store.");
    for (std::size_t i = 0; i < kCallLabels.size(); ++i) {
      const std::string call = kCallLabels[i];
      for (std::size_t j = 0; j < kOutcomeLabels.size(); ++j) {
        calls_[i][j] =
            &calls.Add({{"call", call}, {"result", kOutcomeLabels[j]}});
      }
      seconds_[i] = &seconds.Add({{"call", call}}, Metrics::PhaseBuckets());
    }
    AddCounters(metrics->CounterFamily(
                    "semrank_store_requests_total",
                    "Document vectors that were not in memory, by what the "
                    "document store answered."),
                "result", kLookupLabels, lookups_);
    AddCounters(metrics->CounterFamily(
                    "semrank_store_dropped_vectors_total",
                    "New vectors that were not written to the store."),
                "reason", kDropLabels, dropped_);
    written_ =
        &metrics
             ->CounterFamily("semrank_store_written_vectors_total",
                             "New vectors that were written to the store.")
             .Add({});
  }

  void CountCall(Call call, const absl::Status& status, absl::Duration time) {
    const auto i = static_cast<std::size_t>(call);
    calls_[i][static_cast<std::size_t>(OutcomeOf(status))]->Increment();
    seconds_[i]->Observe(absl::ToDoubleSeconds(time));
  }
  void CountLookups(Lookup result, std::int64_t num_vectors) {
    Count(lookups_[static_cast<std::size_t>(result)], num_vectors);
  }
  void CountDropped(Drop reason, std::int64_t num_vectors) {
    Count(dropped_[static_cast<std::size_t>(reason)], num_vectors);
  }
  void CountWritten(std::int64_t num_vectors) { Count(written_, num_vectors); }

 private:
  template <std::size_t kSize>
  using Counters = std::array<prometheus::Counter*, kSize>;

  template <typename Family, std::size_t kSize>
  static void AddCounters(Family& family, const char* label,
                          const std::array<const char*, kSize>& values,
                          Counters<kSize>& counters) {
    for (std::size_t i = 0; i < kSize; ++i) {
      counters[i] = &family.Add({{label, values[i]}});
    }
  }
  static void Count(prometheus::Counter* counter, std::int64_t number) {
    counter->Increment(static_cast<double>(number));
  }

  std::array<Counters<kOutcomeLabels.size()>, kCallLabels.size()> calls_;
  std::array<prometheus::Histogram*, kCallLabels.size()> seconds_;
  Counters<kLookupLabels.size()> lookups_;
  Counters<kDropLabels.size()> dropped_;
  prometheus::Counter* written_;
};

// The thread is the last member, because it uses the others.
StoredVectors::StoredVectors(DocumentStore* store, Metrics* metrics,
                             Options options)
    : store_(*store),
      options_(std::move(options)),
      metrics_(std::make_unique<StoreMetrics>(metrics)),
      breaker_(options_.breaker),
      state_{.name = store->name()},
      thread_([this] { Run(); }) {}

StoredVectors::~StoredVectors() {
  {
    MutexLock lock(mutex_);
    stop_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

int StoredVectors::Find(const ServedModel& served,
                        std::span<const std::string_view> normalized_texts,
                        const Caller& caller, float* rows,
                        std::span<std::uint8_t> found) {
  std::ranges::fill(found, std::uint8_t{0});
  const auto count = static_cast<std::int64_t>(normalized_texts.size());
  if (!breaker_.is_closed()) {
    metrics_->CountLookups(Lookup::kBypassed, count);
    return 0;
  }
  // One time limit for the store, and another one for the tower in case that
  // the store has nothing.
  if (caller.deadline() - absl::Now() < 2 * options_.time_limit) {
    metrics_->CountLookups(Lookup::kNoTime, count);
    return 0;
  }
  Stopwatch clock;
  const absl::StatusOr<DocumentStore::Found> result =
      store_.FindVectors(DocumentsOf(*served.model), normalized_texts,
                         options_.time_limit, rows, found);
  metrics_->CountCall(Call::kFind, result.status(), clock.Lap());
  if (!result.ok()) {
    // Rows that were found before the failure may be incomplete.
    std::ranges::fill(found, std::uint8_t{0});
    metrics_->CountLookups(Lookup::kFailed, count);
    Bypass(result.status());
    return 0;
  }
  metrics_->CountLookups(Lookup::kHit, result->num_found);
  metrics_->CountLookups(Lookup::kRefused, result->num_refused);
  metrics_->CountLookups(Lookup::kMiss,
                         count - result->num_found - result->num_refused);
  return result->num_found;
}

void StoredVectors::Keep(const ServedModel& served,
                         std::span<const std::string_view> normalized_texts,
                         const float* rows) {
  const auto count = static_cast<std::int64_t>(normalized_texts.size());
  // While the store is down, the queue would only fill up.
  if (!breaker_.is_closed()) {
    metrics_->CountDropped(Drop::kBypassed, count);
    return;
  }
  const int dim = served.model->embedding_dim();
  const std::size_t num_bytes = BytesOf(normalized_texts, dim);
  {
    MutexLock lock(mutex_);
    if (state_.queued_bytes + num_bytes > options_.max_queue_bytes) {
      metrics_->CountDropped(Drop::kQueueFull, count);
      return;
    }
    state_.queued_bytes += num_bytes;
    state_.queued_vectors += count;
    Batch* batch = GrowingBatch(served, normalized_texts.size());
    if (batch == nullptr) {
      batch = &queue_.emplace_back();
      // The batch keeps it alive: its identity is part of the keys.
      batch->model = served.model;
    }
    for (const std::string_view text : normalized_texts) {
      batch->texts.AddNormalized(text);
    }
    batch->rows.insert(batch->rows.end(), rows, rows + count * dim);
  }
  changed_.NotifyOne();
}

StoredVectors::Batch* StoredVectors::GrowingBatch(const ServedModel& served,
                                                  std::size_t num_texts) {
  if (queue_.empty()) return nullptr;
  Batch& last = queue_.back();
  const bool fits =
      static_cast<std::size_t>(last.texts.size()) + num_texts <= kBatchTexts;
  // A batch has the keys of one model, so another model begins a new one.
  return last.model == served.model && fits ? &last : nullptr;
}

StoredVectors::State StoredVectors::GetState() const {
  MutexLock lock(mutex_);
  State state = state_;
  state.bypassed = !breaker_.is_closed();
  return state;
}

// Writes while the store is in use, probes it while it is bypassed.
void StoredVectors::Run() {
  for (;;) {
    {
      MutexLock lock(mutex_);
      if (!WaitForWork()) break;
    }
    if (breaker_.is_closed()) {
      Write(TakeBatch());
    } else {
      TryAgain();
    }
  }
  // What is still queued here is lost: the store is bypassed and will not be
  // tried again.
  MutexLock lock(mutex_);
  metrics_->CountDropped(Drop::kBypassed, state_.queued_vectors);
}

// At the end, writes the whole queue to a store in use, and does not wait for a
// bypassed one.
bool StoredVectors::WaitForWork() {
  for (;;) {
    if (breaker_.is_closed()) {
      if (!queue_.empty()) return true;
      if (stop_) return false;
      changed_.Wait(mutex_);
    } else {
      if (stop_) return false;
      const auto wait = breaker_.next_trial() - CircuitBreaker::Clock::now();
      if (wait <= wait.zero()) return true;
      changed_.WaitFor(mutex_, wait);
    }
  }
}

// Takes the batch out of the queue before it is written: requests fill the next
// one.
StoredVectors::Batch StoredVectors::TakeBatch() {
  MutexLock lock(mutex_);
  Batch batch = std::move(queue_.front());
  queue_.pop_front();
  state_.queued_vectors -= batch.texts.size();
  state_.queued_bytes -=
      BytesOf(Views(batch.texts), batch.model->embedding_dim());
  return batch;
}

void StoredVectors::Write(const Batch& batch) {
  Stopwatch clock;
  const absl::Status status = store_.WriteVectors(
      DocumentsOf(*batch.model), Views(batch.texts), batch.rows.data());
  metrics_->CountCall(Call::kWrite, status, clock.Lap());
  if (status.ok()) {
    metrics_->CountWritten(batch.texts.size());
    return;
  }
  metrics_->CountDropped(Drop::kFailed, batch.texts.size());
  Bypass(status);
}

// Runs in the thread of this class, so that no request waits for a store that
// is down.
void StoredVectors::TryAgain() {
  Stopwatch clock;
  const absl::Status status =
      // An empty look-up is a trial: it resolves and connects to Redis again,
      // and opens a RocksDB again that was closed.
      store_.FindVectors({}, {}, options_.time_limit, nullptr, {}).status();
  metrics_->CountCall(Call::kTrial, status, clock.Lap());
  if (!status.ok()) {
    // The hook is not called: it would log the same failure at every trial.
    breaker_.TrialFailed(CircuitBreaker::Clock::now());
    return;
  }
  breaker_.TrialSucceeded(CircuitBreaker::Clock::now());
  if (options_.on_change) options_.on_change(status);
}

void StoredVectors::Bypass(const absl::Status& error) {
  {
    // The breaker opens under the mutex. Otherwise the thread could see it
    // closed, miss the notification, and sleep past the time of the trial.
    MutexLock lock(mutex_);
    if (!breaker_.Failed(CircuitBreaker::Clock::now())) return;
    ++state_.num_bypasses;
    state_.last_error = error;
  }
  changed_.NotifyOne();
  // Without the mutex, since the hook logs and may call GetState.
  if (options_.on_change) options_.on_change(error);
}

}  // namespace semrank
