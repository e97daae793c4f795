// The level of document vectors between memory and tower: what a document store
// keeps. Nothing that happens to the store fails a request.
//
//   Find     one call for all texts of a slice, within the time limit. A store
//            that fails or takes longer is bypassed from then on, and probed
//            by a thread of this class, so that no request pays for it.
//   Keep     only queues; the same thread writes. A full queue drops what
//            comes, which is counted: it can be computed again.
//   Threads  every method, from any thread. No lock is held while the store
//            works.
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
#include "server/models/served_model.h"
#include "server/stores/document_store.h"
#include "server/vectors/circuit_breaker.h"
#include "server/vectors/store_metrics.h"
#include "server/vectors/text_batch.h"

namespace semrank {

class StoredVectors {
 public:
  struct Options {
    // For one Find. A caller whose deadline is less than twice that away is not
    // made to wait for the store.
    absl::Duration time_limit = absl::Milliseconds(10);
    std::size_t max_queue_bytes = std::size_t{32} << 20;
    CircuitBreaker::Options breaker = {};
    // Called with an error when the store is left alone from now on, with OK
    // when it is in use again; from any thread.
    std::function<void(const absl::Status&)> on_change = {};
  };
  struct State {
    std::string name;
    bool bypassed = false;
    std::int64_t num_bypasses = 0;
    // Why it was bypassed the last time, or could not be written to.
    absl::Status last_error = absl::OkStatus();
    std::int64_t queued_vectors = 0;
    std::size_t queued_bytes = 0;
  };

  // `store` and `metrics` must outlive this.
  StoredVectors(DocumentStore* store, Metrics* metrics, Options options);
  // Writes what is queued; gives it up once the store fails.
  ~StoredVectors();
  StoredVectors(const StoredVectors&) = delete;
  StoredVectors& operator=(const StoredVectors&) = delete;

  // As DocumentStore::FindVectors, for documents; returns the number found.
  int Find(const ServedModel& served,
           std::span<const std::string_view> normalized_texts,
           const Caller& caller, float* rows, std::span<std::uint8_t> found);
  // Row i of `rows` is the vector of document text i.
  void Keep(const ServedModel& served,
            std::span<const std::string_view> normalized_texts,
            const float* rows);

  State GetState() const;

 private:
  // What is written with one call.
  struct Batch {
    std::shared_ptr<const TwoTowerModel> model;
    TextBatch texts;
    std::vector<float> rows;
  };

  void Run();
  // Waits for a batch, or for the time of a trial. False = the end.
  bool WaitForWork() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Batch TakeBatch();
  void Write(const Batch& batch);
  void Try();
  void Bypass(const absl::Status& error);
  // The last batch, if `num_texts` more of this model fit.
  Batch* GrowingBatch(const ServedModel& served, std::size_t num_texts)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  DocumentStore& store_;
  const Options options_;
  StoreMetrics metrics_;
  CircuitBreaker breaker_;
  mutable Mutex mutex_;
  CondVar changed_;
  std::deque<Batch> queue_ ABSL_GUARDED_BY(mutex_);
  std::int64_t queued_vectors_ ABSL_GUARDED_BY(mutex_) = 0;
  std::size_t queued_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::int64_t num_bypasses_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status last_error_ ABSL_GUARDED_BY(mutex_);
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_VECTORS_STORED_VECTORS_H_
