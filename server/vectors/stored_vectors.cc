#include "server/vectors/stored_vectors.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "server/base/metrics.h"

namespace semrank {
namespace {

// Texts written with one call of the store, about: requests with one missing
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
  for (int i = 0; i < texts.size(); ++i) views.push_back(texts[i]);
  return views;
}

}  // namespace

// The thread is the last member, so it finds the others constructed.
StoredVectors::StoredVectors(DocumentStore* store, Metrics* metrics,
                             Options options)
    : store_(*store),
      options_(std::move(options)),
      metrics_(metrics),
      breaker_(options_.breaker),
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
    metrics_.CountLookups(StoreLookup::kBypassed, count);
    return 0;
  }
  // One time limit for the store and as much again for the tower, in case the
  // store has nothing.
  if (caller.deadline() - absl::Now() < 2 * options_.time_limit) {
    metrics_.CountLookups(StoreLookup::kNoTime, count);
    return 0;
  }
  StageClock clock;
  const absl::StatusOr<DocumentStore::Found> result =
      store_.FindVectors(DocumentsOf(*served.model), normalized_texts,
                         options_.time_limit, rows, found);
  metrics_.CountCall(StoreCall::kFind, result.status(), clock.Lap());
  if (!result.ok()) {
    // Some may have been found before the failure; their rows are not to be
    // trusted.
    std::ranges::fill(found, std::uint8_t{0});
    metrics_.CountLookups(StoreLookup::kFailed, count);
    Bypass(result.status());
    return 0;
  }
  metrics_.CountLookups(StoreLookup::kHit, result->num_found);
  metrics_.CountLookups(StoreLookup::kRefused, result->num_refused);
  metrics_.CountLookups(StoreLookup::kMiss,
                        count - result->num_found - result->num_refused);
  return result->num_found;
}

void StoredVectors::Keep(const ServedModel& served,
                         std::span<const std::string_view> normalized_texts,
                         const float* rows) {
  const auto count = static_cast<std::int64_t>(normalized_texts.size());
  // A store that is down would fill the queue with vectors that can be computed
  // again.
  if (!breaker_.is_closed()) {
    metrics_.CountDropped(StoreDrop::kBypassed, count);
    return;
  }
  const int dim = served.model->embedding_dim();
  const std::size_t num_bytes = BytesOf(normalized_texts, dim);
  {
    MutexLock lock(mutex_);
    if (queued_bytes_ + num_bytes > options_.max_queue_bytes) {
      metrics_.CountDropped(StoreDrop::kQueueFull, count);
      return;
    }
    queued_bytes_ += num_bytes;
    queued_vectors_ += count;
    Batch* batch = GrowingBatch(served, normalized_texts.size());
    if (batch == nullptr) {
      batch = &queue_.emplace_back();
      // Keeps the model alive: its identity is part of the keys that are
      // written.
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
  return last.model == served.model && fits ? &last : nullptr;
}

StoredVectors::State StoredVectors::GetState() const {
  MutexLock lock(mutex_);
  return {.name = store_.name(),
          .bypassed = !breaker_.is_closed(),
          .num_bypasses = num_bypasses_,
          .last_error = last_error_,
          .queued_vectors = queued_vectors_,
          .queued_bytes = queued_bytes_};
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
      Try();
    }
  }
  MutexLock lock(mutex_);
  metrics_.CountDropped(StoreDrop::kBypassed, queued_vectors_);
}

// At the end, a store in use gets the whole queue; a bypassed one is not waited
// for.
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

StoredVectors::Batch StoredVectors::TakeBatch() {
  MutexLock lock(mutex_);
  Batch batch = std::move(queue_.front());
  queue_.pop_front();
  queued_vectors_ -= batch.texts.size();
  queued_bytes_ -= BytesOf(Views(batch.texts), batch.model->embedding_dim());
  return batch;
}

void StoredVectors::Write(const Batch& batch) {
  StageClock clock;
  const absl::Status status = store_.WriteVectors(
      DocumentsOf(*batch.model), Views(batch.texts), batch.rows.data());
  metrics_.CountCall(StoreCall::kWrite, status, clock.Lap());
  if (status.ok()) {
    metrics_.CountWritten(batch.texts.size());
    return;
  }
  metrics_.CountDropped(StoreDrop::kFailed, batch.texts.size());
  Bypass(status);
}

void StoredVectors::Try() {
  StageClock clock;
  const absl::Status status =
      // An empty look-up stands for a trial: Redis is resolved and connected
      // anew, and a RocksDB that was closed is opened again.
      store_.FindVectors({}, {}, options_.time_limit, nullptr, {}).status();
  metrics_.CountCall(StoreCall::kTrial, status, clock.Lap());
  if (!status.ok()) {
    breaker_.TrialFailed(CircuitBreaker::Clock::now());
    return;
  }
  breaker_.TrialSucceeded(CircuitBreaker::Clock::now());
  if (options_.on_change) options_.on_change(status);
}

void StoredVectors::Bypass(const absl::Status& error) {
  {
    // The breaker opens under the mutex. Otherwise the thread could see it
    // closed, miss the notification and sleep through the time of the trial.
    MutexLock lock(mutex_);
    if (!breaker_.Failed(CircuitBreaker::Clock::now())) return;
    ++num_bypasses_;
    last_error_ = error;
  }
  changed_.NotifyOne();
  // Without the mutex: the hook logs and may ask for GetState.
  if (options_.on_change) options_.on_change(error);
}

}  // namespace semrank
