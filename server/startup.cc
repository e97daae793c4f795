#include "server/startup.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "model/base/line_reader.h"
#include "model/base/mutex.h"
#include "model/base/status_macros.h"
#include "model/base/thread_pool.h"
#include "server/base/logging.h"
#include "server/stores/redis_document_store.h"
#include "server/stores/rocksdb_document_store.h"

namespace semrank {
namespace {

// How long the start waits for Redis.
constexpr absl::Duration kFirstAnswer = absl::Seconds(5);

void LogBypass(const std::string& name, const absl::Status& status) {
  if (status.ok()) {
    LogInfo("%s answers again and is in use", name);
  } else {
    LogWarning("the document store is bypassed: %s", status.message());
  }
}

// How often to look for a missing model when the poll interval is longer or 0.
constexpr absl::Duration kMaxRetryInterval = absl::Seconds(1);

constexpr std::size_t kBatchTitles = kSliceTexts;
// Batches that are read before the threads start to embed them.
constexpr int kBatchesPerThread = 8;
constexpr absl::Duration kLogInterval = absl::Seconds(5);

struct WarmUpCounts {
  std::int64_t num_titles = 0;
  // Lines without a tab, and titles that no request could send.
  std::int64_t num_bad_lines = 0;
  std::int64_t num_embedded = 0;  // the others were in the document store
};

// Reads up to `max_titles` titles; fewer at the end of the file.
absl::Status ReadTitles(LineReader& lines, std::size_t max_titles,
                        std::vector<std::string>& titles,
                        WarmUpCounts& counts) {
  titles.clear();
  std::string_view line;
  while (titles.size() < max_titles) {
    SEMRANK_ASSIGN_OR_RETURN(const bool more, lines.Next(line));
    if (!more) break;
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos) {
      ++counts.num_bad_lines;
    } else {
      // Copied: the reader uses its memory for the next line.
      titles.emplace_back(line.substr(tab + 1));
    }
  }
  return absl::OkStatus();
}

// Embeds `titles` with one model, a batch per task. The engine keeps the
// vectors; the result itself is not needed.
absl::Status EmbedTitles(const ServedModel& model,
                         const std::vector<std::string>& titles,
                         const EmbeddingEngine& engine, ThreadPool& threads,
                         WarmUpCounts& counts) {
  const std::vector<std::string_view> views(titles.begin(), titles.end());
  const int num_batches =
      static_cast<int>((views.size() + kBatchTitles - 1) / kBatchTitles);
  Mutex mutex;
  absl::Status status;
  // Threads that end with the start, not the workers that calls need.
  threads.ParallelFor(num_batches, [&](int batch, int) {
    const std::size_t first = batch * kBatchTitles;
    const std::span texts = std::span(views).subspan(
        first, std::min(kBatchTitles, views.size() - first));
    EmbedResult result;
    const absl::Status embedded =
        engine.Embed(model, {Side::kDocument, texts, /*skip_bad_texts=*/true},
                     BackgroundCaller(), result);
    // Batches end in any order in the pool's threads.
    MutexLock lock(mutex);
    status.Update(embedded);
    counts.num_bad_lines += static_cast<std::int64_t>(result.problems.size());
    counts.num_embedded += result.cache.misses;
  });
  return status;
}

}  // namespace

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

std::unique_ptr<StoredVectors> UseStoreForVectors(const StoreOptions& options,
                                                  DocumentStore* store,
                                                  Metrics& metrics) {
  if (store == nullptr) return nullptr;
  return std::make_unique<StoredVectors>(
      store, &metrics,
      StoredVectors::Options{
          .time_limit = options.timeout,
          .on_change = [name = store->name()](const absl::Status& status) {
            LogBypass(name, status);
          }});
}

std::vector<ModelChoice> ModelChoices(const ModelOptions& options) {
  std::vector<ModelChoice> choices;
  for (const ServedFolder& folder : options.folders) {
    choices.push_back(
        {FolderSource(folder.path, folder.name, options.vector_precision),
         folder.version});
  }
  return choices;
}

void LogModelLoad(const ModelLoad& load) {
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

absl::Status LoadFirstModels(const ModelOptions& options, ModelStore& models,
                             Signals& signals) {
  const auto stop = [&] { return signals.stop_requested(); };
  absl::Status status = models.Refresh(stop);
  if (status.ok() || absl::IsCancelled(status) || !options.wait_for_model) {
    return status;
  }
  LogWarning("waiting for a model: %s", status.message());
  const absl::Duration interval =
      options.poll_interval > absl::ZeroDuration()
          ? std::min(options.poll_interval, kMaxRetryInterval)
          : kMaxRetryInterval;
  while (!status.ok() && !absl::IsCancelled(status)) {
    // SIGHUP ends the pause too.
    signals.WaitFor(interval);
    status = models.Refresh(stop);
  }
  return status;
}

absl::Status WarmUp(const std::string& path, const ModelStore& models,
                    const EmbeddingEngine& engine,
                    const std::function<bool()>& stop) {
  SEMRANK_ASSIGN_OR_RETURN(const auto lines, LineReader::Open(path));
  ThreadPool threads(NumUsableProcessors());
  // Several batches a thread, so that one batch of long titles does not leave
  // the other threads idle.
  const std::size_t max_titles =
      kBatchTitles * kBatchesPerThread * threads.num_threads();
  WarmUpCounts counts;
  std::vector<std::string> titles;
  absl::Time next_log = absl::Now() + kLogInterval;
  for (;;) {
    if (stop()) return absl::CancelledError("stopped while warming up");
    SEMRANK_RETURN_IF_ERROR(ReadTitles(*lines, max_titles, titles, counts));
    if (titles.empty()) break;
    for (const ServedModelPtr& model : models.CurrentModels()) {
      // SSI with words alone has nothing to cache.
      if (model->model->embedding_dim() == 0) continue;
      SEMRANK_RETURN_IF_ERROR(
          EmbedTitles(*model, titles, engine, threads, counts));
    }
    counts.num_titles += static_cast<std::int64_t>(titles.size());
    if (absl::Now() >= next_log) {
      LogInfo("warming up: %d titles, %.0f %% of %s", counts.num_titles,
              100 * lines->fraction_read(), path);
      next_log = absl::Now() + kLogInterval;
    }
  }
  LogInfo("warmed up with %d titles of %s: %d vectors computed, %d bad lines",
          counts.num_titles, path, counts.num_embedded, counts.num_bad_lines);
  return absl::OkStatus();
}

}  // namespace semrank
