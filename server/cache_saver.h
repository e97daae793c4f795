// The memory cache over a restart: read back at the start, written to a file
// now and then and at the end. Nothing that happens to the file ends the
// server or fails a request; the log and the metrics tell.
//
//   Threads  one of its own, which writes every `interval`. The methods belong
//            to the thread that starts and ends the server.
#ifndef SEMRANK_SERVER_CACHE_SAVER_H_
#define SEMRANK_SERVER_CACHE_SAVER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/base/metrics.h"
#include "server/base/periodic_task.h"
#include "server/models/served_model.h"
#include "server/vectors/cache_snapshot.h"
#include "server/vectors/document_vector_cache.h"

namespace semrank {

class CacheSaver {
 public:
  struct Options {
    std::string path;         // empty = nothing is read or written
    absl::Duration interval;  // 0 = only at the end
  };

  // Opens the file, if there is one. `models` tells what is served, from any
  // thread. `cache` and what `models` asks must outlive this; this, the
  // metrics' last Render.
  CacheSaver(Options options, DocumentVectorCache* cache,
             std::function<std::vector<ServedModelPtr>()> models,
             Metrics& metrics);
  CacheSaver(const CacheSaver&) = delete;
  CacheSaver& operator=(const CacheSaver&) = delete;

  // Of the cache's keys: that of the file, or a new one.
  const Fingerprinter::Secret& secret() const { return secret_; }

  // Once the models are loaded and before requests come: puts the file's
  // vectors of them into the cache.
  void Restore();
  // Writes every interval from now on.
  void Start();
  // Writes a last time; given up at `limit`.
  void Finish(absl::Time limit);

 private:
  void AddReadings(Metrics& metrics) const;
  absl::Status Save(absl::FunctionRef<bool()> stop);
  // Into the log and the metric, unless OK.
  void CountFailure(const absl::Status& status);

  const Options options_;
  DocumentVectorCache* const cache_;
  const std::function<std::vector<ServedModelPtr>()> models_;
  std::optional<CacheSnapshot> snapshot_;  // until it was restored
  Fingerprinter::Secret secret_;
  std::atomic<std::int64_t> restored_vectors_ = 0;
  std::atomic<std::int64_t> saved_vectors_ = 0;
  std::atomic<std::int64_t> saved_seconds_ = 0;
  std::atomic<std::int64_t> num_failures_ = 0;
  std::atomic<bool> finishing_ = false;
  std::unique_ptr<PeriodicTask> timer_;  // first to go
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_CACHE_SAVER_H_
