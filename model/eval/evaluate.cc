#include "model/eval/evaluate.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <span>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "model/cli/interrupt.h"
#include "model/cli/progress.h"
#include "model/eval/block_evaluator.h"

namespace semrank {
namespace {

// Queries that are scored together, and the most scores (4 bytes each) that a
// thread keeps for them.
constexpr std::size_t kBlockQueries = 32;
constexpr std::size_t kBlockScores = std::size_t{1} << 24;
// Blocks a thread between two looks at the progress bar and at Ctrl-C.
constexpr int kBlocksPerThread = 4;

std::vector<QueryEvaluation> QueriesToEvaluate(const Collection& collection) {
  std::vector<QueryEvaluation> queries;
  for (std::size_t q = 0; q < collection.queries.size(); ++q) {
    if (!collection.queries[q].HasRelevant()) continue;
    queries.push_back({static_cast<std::uint32_t>(q), {}, {}, {}});
  }
  return queries;
}

std::size_t BlockSize(std::size_t num_documents) {
  const std::size_t fitting =
      kBlockScores / std::max<std::size_t>(num_documents, 1);
  return std::clamp<std::size_t>(fitting, 1, kBlockQueries);
}

MetricSummary SummaryOf(const std::vector<QueryEvaluation>& queries) {
  std::vector<MetricValues> values;
  values.reserve(queries.size());
  for (const QueryEvaluation& query : queries) values.push_back(query.metrics);
  return Summarize(values);
}

}  // namespace

std::optional<double> Evaluation::ranking_loss() const {
  RankingTuples sum;
  for (const QueryEvaluation& query : queries) {
    sum.wrong += query.tuples.wrong;
    sum.total += query.tuples.total;
  }
  if (sum.total == 0) return std::nullopt;
  return static_cast<double>(sum.wrong) / static_cast<double>(sum.total);
}

absl::StatusOr<Evaluation> EvaluateRanker(const Ranker& ranker,
                                          const Collection& collection,
                                          const EvaluateOptions& options,
                                          ThreadPool& pool) {
  assert(ranker.num_documents() == collection.documents.size());
  Evaluation evaluation{ranker.name(), QueriesToEvaluate(collection), {}};
  const std::span<QueryEvaluation> queries(evaluation.queries);
  std::vector<BlockEvaluator> evaluators(
      pool.num_threads(), BlockEvaluator(ranker, collection, options));
  std::optional<ProgressBar> progress;
  if (options.show_progress) {
    progress.emplace("evaluating " + evaluation.ranker,
                     static_cast<std::int64_t>(queries.size()), "queries");
  }
  const std::size_t block = BlockSize(collection.documents.size());
  const std::size_t wave = block * kBlocksPerThread * pool.num_threads();
  for (std::size_t done = 0; done < queries.size();) {
    if (Interrupted()) {
      return absl::CancelledError(absl::StrFormat(
          "interrupted after %d of %d queries", done, queries.size()));
    }
    const auto now =
        queries.subspan(done, std::min(wave, queries.size() - done));
    const std::size_t num_blocks = (now.size() + block - 1) / block;
    pool.ParallelFor(static_cast<int>(num_blocks), [&](int piece, int worker) {
      const std::size_t first = piece * block;
      evaluators[worker].Run(
          now.subspan(first, std::min(block, now.size() - first)));
    });
    done += now.size();
    if (progress) progress->Update(static_cast<std::int64_t>(done));
  }
  evaluation.summary = SummaryOf(evaluation.queries);
  return evaluation;
}

}  // namespace semrank
