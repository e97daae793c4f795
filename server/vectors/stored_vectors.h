// The level of document vectors between memory and tower: those that a document
// store keeps. No error of the store fails a request.
//
//   Find     makes one call of the store for all texts of a slice, within the
//            time limit. A store that fails or takes longer is bypassed from
//            then on. A thread of this class probes it, so that no request
//            waits for that.
//   Keep     queues vectors, which the same thread writes. When the queue is
//            full it drops them and counts that: they can be computed again.
//   Threads  all methods are thread-safe. No lock is held during a call of the
//            store.
#ifndef SEMRANK_SERVER_VECTORS_STORED_VECTORS_H_
#define SEMRANK_SERVER_VECTORS_STORED_VECTORS_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "model/base/mutex.h"
#include "server/base/caller.h"
#include "server/base/metrics.h"
#include "server/models/served_model.h"
#include "server/stores/document_store.h"
#include "server/vectors/circuit_breaker.h"
#include "server/vectors/text_batch.h"

namespace semrank {

class StoredVectors {
 public:
  struct Options {
    // The limit for one Find. A caller whose deadline is less than twice as far
    // away does not wait for the store.
    absl::Duration time_limit = absl::Milliseconds(10);
    std::size_t max_queue_bytes = std::size_t{32} << 20;
    CircuitBreaker::Options breaker = {};
    // Is called with an error when the store is bypassed from now on, and with
    // OK when it is in use again; by any thread.
    std::function<void(const absl::Status&)> on_change = {};
  };
  struct State {
    std::string name;
    bool bypassed = false;
    std::int64_t num_bypasses = 0;
    // Why the store was bypassed the last time.
    absl::Status last_error = absl::OkStatus();
    std::int64_t queued_vectors = 0;
    std::size_t queued_bytes = 0;
  };

  // `store` and `metrics` must outlive this.
  StoredVectors(DocumentStore* store, Metrics* metrics, Options options);
  // Writes the queue, but drops the rest of it when the store fails.
  ~StoredVectors();
  StoredVectors(const StoredVectors&) = delete;
  StoredVectors& operator=(const StoredVectors&) = delete;

  // As DocumentStore::FindVectors for documents. Returns the number found.
  int Find(const ServedModel& served,
           std::span<const std::string_view> normalized_texts,
           const Caller& caller, float* rows, std::span<std::uint8_t> found);
  // Queues row i of `rows` as the vector of document text i.
  void Keep(const ServedModel& served,
            std::span<const std::string_view> normalized_texts,
            const float* rows);

  State GetState() const;

 private:
  class StoreMetrics;
  // The vectors that one call of the store writes.
  struct Batch {
    std::shared_ptr<const TwoTowerModel> model;
    TextBatch texts;
    std::vector<float> rows;
  };

  void Run();
  // Waits for a batch or for the time of a trial. Returns false at the end.
  bool WaitForWork() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Batch TakeBatch();
  void Write(const Batch& batch);
  void TryAgain();
  void Bypass(const absl::Status& error);
  // Returns the last batch if `num_texts` more of this model fit, else null.
  Batch* GrowingBatch(const ServedModel& served, std::size_t num_texts)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  DocumentStore& store_;
  const Options options_;
  const std::unique_ptr<StoreMetrics> metrics_;
  CircuitBreaker breaker_;
  mutable Mutex mutex_;
  CondVar changed_;
  std::deque<Batch> queue_ ABSL_GUARDED_BY(mutex_);
  State state_ ABSL_GUARDED_BY(mutex_);  // all but `bypassed`
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_VECTORS_STORED_VECTORS_H_
