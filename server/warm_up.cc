#include "server/warm_up.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/time/clock.h"
#include "model/base/count_text.h"
#include "model/base/line_reader.h"
#include "model/base/mutex.h"
#include "model/base/status_macros.h"
#include "model/base/thread_pool.h"
#include "server/base/logging.h"

namespace semrank {
namespace {

// As many titles as one slice of a request: the tower is fastest with full
// batches, and a signal need not wait long for one.
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
      // The reader reuses the memory of `line` for the next line.
      titles.emplace_back(line.substr(tab + 1));
    }
  }
  return absl::OkStatus();
}

// Embeds `titles` with one model, a batch for each task. The engine keeps the
// vectors in the cache; the result itself is not needed.
absl::Status EmbedTitles(const ServedModel& model,
                         const std::vector<std::string>& titles,
                         const EmbeddingEngine& engine, ThreadPool& threads,
                         WarmUpCounts& counts) {
  const std::vector<std::string_view> views(titles.begin(), titles.end());
  const int num_batches =
      static_cast<int>((views.size() + kBatchTitles - 1) / kBatchTitles);
  Mutex mutex;
  absl::Status status;
  // Calls need the workers, so the batches run in threads that end with the
  // start.
  threads.ParallelFor(num_batches, [&](int batch, int) {
    const std::size_t first = batch * kBatchTitles;
    const std::span texts = std::span(views).subspan(
        first, std::min(kBatchTitles, views.size() - first));
    EmbedResult result;
    const absl::Status embedded =
        engine.Embed(model, {Side::kDocument, texts, /*skip_bad_texts=*/true},
                     BackgroundCaller(), result);
    // Batches end in any order.
    MutexLock lock(mutex);
    status.Update(embedded);
    counts.num_bad_lines += static_cast<std::int64_t>(result.problems.size());
    counts.num_embedded += result.cache.misses;
  });
  return status;
}

}  // namespace

absl::Status WarmUp(const std::string& path, const ModelStore& models,
                    const EmbeddingEngine& engine,
                    const std::function<bool()>& cancelled) {
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
    if (cancelled()) return absl::CancelledError("stopped while warming up");
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
      LogInfo("warming up: %s, %.0f %% of %s",
              CountText(counts.num_titles, "title"),
              100 * lines->fraction_read(), path);
      next_log = absl::Now() + kLogInterval;
    }
  }
  LogInfo("warmed up with %s of %s: %s computed, %s",
          CountText(counts.num_titles, "title"), path,
          CountText(counts.num_embedded, "vector"),
          CountText(counts.num_bad_lines, "bad line"));
  return absl::OkStatus();
}

}  // namespace semrank
