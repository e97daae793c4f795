#include "server/warm_up.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>

#include "absl/time/clock.h"
#include "model/base/line_reader.h"
#include "model/base/mutex.h"
#include "model/base/status_macros.h"
#include "model/base/thread_pool.h"

namespace semrank {
namespace {

constexpr std::size_t kBatchTitles = kTurnTexts;
// Batches that are read before the threads begin with them.
constexpr int kBatchesPerThread = 8;
constexpr absl::Duration kLogInterval = absl::Seconds(5);

class PatientCaller final : public Caller {
 public:
  absl::Time deadline() const override { return absl::InfiniteFuture(); }
  bool gone() const override { return false; }
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
      titles.emplace_back(line.substr(tab + 1));
    }
  }
  return absl::OkStatus();
}

// Embeds `titles` with one model, a batch a thread. What it is given back is in
// memory and thrown away here.
absl::Status EmbedTitles(const ServedModel& model,
                         const std::vector<std::string>& titles,
                         const EmbeddingEngine& engine, ThreadPool& threads,
                         WarmUpCounts& counts) {
  const std::vector<std::string_view> views(titles.begin(), titles.end());
  const int num_batches =
      static_cast<int>((views.size() + kBatchTitles - 1) / kBatchTitles);
  Mutex mutex;
  absl::Status status;
  threads.ParallelFor(num_batches, [&](int batch, int) {
    const std::size_t first = batch * kBatchTitles;
    const std::span texts = std::span(views).subspan(
        first, std::min(kBatchTitles, views.size() - first));
    EmbedResult result;
    const absl::Status embedded =
        engine.Embed(model, {Side::kDocument, texts, /*skip_bad_texts=*/true},
                     PatientCaller(), result);
    MutexLock lock(mutex);
    status.Update(embedded);
    counts.num_bad_lines += static_cast<std::int64_t>(result.problems.size());
    counts.num_embedded += result.cache.misses;
  });
  return status;
}

}  // namespace

absl::StatusOr<WarmUpCounts> WarmUp(const WarmUpOptions& options,
                                    const EmbeddingEngine& engine) {
  SEMRANK_ASSIGN_OR_RETURN(const auto lines, LineReader::Open(options.path));
  ThreadPool threads(NumUsableProcessors());
  const std::size_t max_titles =
      kBatchTitles * kBatchesPerThread * threads.num_threads();
  WarmUpCounts counts;
  std::vector<std::string> titles;
  absl::Time next_log = absl::Now() + kLogInterval;
  for (;;) {
    if (options.stop()) return absl::CancelledError("stopped while warming up");
    SEMRANK_RETURN_IF_ERROR(ReadTitles(*lines, max_titles, titles, counts));
    if (titles.empty()) break;
    for (const ServedModelPtr& model : options.models) {
      if (model->model->embedding_dim() == 0) continue;
      SEMRANK_RETURN_IF_ERROR(
          EmbedTitles(*model, titles, engine, threads, counts));
    }
    counts.num_titles += static_cast<std::int64_t>(titles.size());
    if (absl::Now() >= next_log) {
      spdlog::info("warming up: {} titles, {:.0f} % of {}", counts.num_titles,
                   100 * lines->fraction_read(), options.path);
      next_log = absl::Now() + kLogInterval;
    }
  }
  spdlog::info(
      "warmed up with {} titles of {}: {} vectors computed, {} bad lines",
      counts.num_titles, options.path, counts.num_embedded,
      counts.num_bad_lines);
  return counts;
}

}  // namespace semrank
