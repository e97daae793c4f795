#include "server/warm_up.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "model/base/count_text.h"
#include "model/base/mutex.h"
#include "model/base/status_macros.h"
#include "model/base/thread_pool.h"
#include "model/data/document_formats.h"
#include "model/data/document_reader.h"
#include "server/base/logging.h"

namespace semrank {
namespace {

// As many titles as one slice of a request: the tower is fastest with full
// batches, and a signal need not wait long for one.
constexpr std::size_t kBatchTitles = kSliceTexts;
constexpr absl::Duration kLogInterval = absl::Seconds(5);

struct WarmUpCounts {
  std::int64_t num_titles = 0;
  std::int64_t num_bad_titles = 0;  // titles that no request could send
  std::int64_t num_embedded = 0;    // the others were in the document store
};

void LogBadLine(std::string_view text) { LogWarning("%s", text); }

// Embeds the titles with one model, a batch for each task. The engine keeps the
// vectors in the cache; the result itself is not needed.
absl::Status EmbedTitles(const ServedModel& model,
                         const std::vector<FileDocument>& documents,
                         const EmbeddingEngine& engine, ThreadPool& threads,
                         WarmUpCounts& counts) {
  std::vector<std::string_view> views;
  views.reserve(documents.size());
  for (const FileDocument& document : documents) {
    views.push_back(document.title);
  }
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
    counts.num_bad_titles += static_cast<std::int64_t>(result.problems.size());
    counts.num_embedded += result.cache.misses;
  });
  return status;
}

}  // namespace

absl::Status WarmUp(const std::string& path, const ModelStore& models,
                    const EmbeddingEngine& engine,
                    const std::function<bool()>& cancelled) {
  // Any number of lines may be bad as long as it is not most of them: a start
  // that is refused is worse than a title that is embedded later.
  BadLines bad_lines(
      {std::numeric_limits<std::int64_t>::max(), /*max_share=*/0.5},
      /*num_before=*/0, LogBadLine);
  SEMRANK_ASSIGN_OR_RETURN(
      const auto reader,
      DocumentReader::Open(
          path, {.format = DocumentFormatOf(path), .bad_lines = &bad_lines}));
  ThreadPool threads(NumUsableProcessors());
  WarmUpCounts counts;
  absl::Time next_log = absl::Now() + kLogInterval;
  for (;;) {
    if (cancelled()) return absl::CancelledError("stopped while warming up");
    // A block at a time, so that the file may be larger than memory and a
    // signal need not wait for its end.
    SEMRANK_ASSIGN_OR_RETURN(const DocumentBlock block, reader->NextBlock());
    if (block.empty()) break;
    for (const ServedModelPtr& model : models.CurrentModels()) {
      // SSI with words alone has nothing to cache.
      if (model->model->embedding_dim() == 0) continue;
      SEMRANK_RETURN_IF_ERROR(
          EmbedTitles(*model, block.documents, engine, threads, counts));
    }
    counts.num_titles += static_cast<std::int64_t>(block.documents.size());
    if (absl::Now() >= next_log) {
      LogInfo("warming up: %s, %.0f %% of %s",
              CountText(counts.num_titles, "title"), 100 * block.end, path);
      next_log = absl::Now() + kLogInterval;
    }
  }
  // Probably not the file that was meant.
  if (counts.num_titles == 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("--warm_catalog=%s: contains no titles", path));
  }
  LogInfo("warmed up with %s of %s: %s computed, %s",
          CountText(counts.num_titles, "title"), path,
          CountText(counts.num_embedded, "vector"),
          CountText(bad_lines.count() + counts.num_bad_titles, "bad line"));
  return absl::OkStatus();
}

}  // namespace semrank
