#include "model/eval/metrics/evaluate.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "model/cli/interrupt.h"
#include "model/cli/progress.h"

namespace semrank {
namespace {

// Queries that are scored together: enough for the matrix product to reuse the
// documents, few enough that a worker's scores (4 bytes each) stay bounded.
constexpr std::size_t kBlockQueries = 32;
constexpr std::size_t kBlockScores = std::size_t{1} << 24;
// Blocks per thread between two updates of the progress bar, where Ctrl-C takes
// effect.
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

// What one worker does: ranks and measures a block of queries at a time. Keeps
// scratch memory between blocks.
class BlockEvaluator {
 public:
  // All three must outlive the object.
  BlockEvaluator(const Ranker& ranker, const Collection& collection,
                 const EvaluateOptions& options)
      : ranker_(&ranker), collection_(&collection), options_(&options) {}

  // Fills in metrics and run of the queries in `block`. Memory: 4 bytes x
  // block.size() x documents when all documents are candidates.
  void Run(std::span<QueryEvaluation> block);

 private:
  const JudgedQuery& QueryOf(const QueryEvaluation& evaluation) const {
    return collection_->queries[evaluation.query];
  }
  void RankJudged(QueryEvaluation& evaluation);
  void RankAll(std::span<QueryEvaluation> block);
  // Measures one query by its `scores` and relevant_, both by position.
  void Measure(std::span<const float> scores, QueryEvaluation& evaluation);

  const Ranker* ranker_;
  const Collection* collection_;
  const EvaluateOptions* options_;
  std::vector<std::uint32_t> documents_;
  std::vector<GradedPosition> relevant_;
  std::vector<float> scores_;
};

void BlockEvaluator::Run(std::span<QueryEvaluation> block) {
  if (options_->candidates == Candidates::kAll) return RankAll(block);
  for (QueryEvaluation& evaluation : block) RankJudged(evaluation);
}

// scores_[i] belongs to judgement i. Judgements are sorted by document, so ties
// keep the order of the documents file.
void BlockEvaluator::RankJudged(QueryEvaluation& evaluation) {
  const JudgedQuery& query = QueryOf(evaluation);
  documents_.clear();
  relevant_.clear();
  for (const Judgement& judgement : query.judgements) {
    const auto position = static_cast<std::uint32_t>(documents_.size());
    if (judgement.grade >= 1) relevant_.push_back({position, judgement.grade});
    documents_.push_back(judgement.document);
  }
  scores_.resize(documents_.size());
  ranker_->ScoreSome(query.text, documents_, scores_);
  Measure(scores_, evaluation);
  for (RankedDocument& ranked : evaluation.run) {
    ranked.index = documents_[ranked.index];
  }
}

void BlockEvaluator::RankAll(std::span<QueryEvaluation> block) {
  const std::size_t num_documents = collection_->documents.size();
  std::vector<std::string_view> texts;
  for (const QueryEvaluation& e : block) texts.push_back(QueryOf(e).text);
  scores_.resize(block.size() * num_documents);
  ranker_->ScoreAll(texts, scores_.data());
  std::span<const float> rest(scores_);
  for (QueryEvaluation& evaluation : block) {
    relevant_.clear();
    for (const Judgement& judgement : QueryOf(evaluation).judgements) {
      if (judgement.grade < 1) continue;
      relevant_.push_back({judgement.document, judgement.grade});
    }
    Measure(rest.first(num_documents), evaluation);
    rest = rest.subspan(num_documents);
  }
}

void BlockEvaluator::Measure(std::span<const float> scores,
                             QueryEvaluation& evaluation) {
  const std::vector<RankedGrade> ranked = RankRelevant(scores, relevant_);
  const std::vector<int>& missing = QueryOf(evaluation).missing_grades;
  evaluation.metrics = ComputeMetrics(ranked, missing, options_->gain);
  evaluation.tuples = CountRankingTuples(ranked, missing.size(), scores.size());
  if (options_->run_depth > 0) {
    RankScores(scores, options_->run_depth, evaluation.run);
  }
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
  // A wave ends with a barrier. Several blocks per thread even out queries that
  // take unequal time.
  const std::size_t wave = block * kBlocksPerThread * pool.num_threads();
  for (std::size_t done = 0; done < queries.size();) {
    if (Interrupted()) {
      return absl::CancelledError(absl::StrFormat(
          "interrupted after %d of %d queries", done, queries.size()));
    }
    const auto now =
        queries.subspan(done, std::min(wave, queries.size() - done));
    const std::size_t num_blocks = (now.size() + block - 1) / block;
    pool.ParallelFor(static_cast<int>(num_blocks), [&](int task, int worker) {
      const std::size_t first = task * block;
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
