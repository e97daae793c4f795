#include "model/eval/metrics/evaluate.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "model/base/interrupt.h"
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
    queries.emplace_back().query = static_cast<std::uint32_t>(q);
  }
  return queries;
}

std::size_t BlockSize(std::size_t num_documents) {
  // With a large collection a block is one query: its scores alone fill the
  // memory that a worker may take.
  const std::size_t fitting =
      kBlockScores / std::max<std::size_t>(num_documents, 1);
  return std::clamp<std::size_t>(fitting, 1, kBlockQueries);
}

// Measures one query at a time by the scores of its candidates. Keeps scratch
// memory between queries.
class QueryMeasurer {
 public:
  // Both must outlive the object.
  QueryMeasurer(const Collection& collection, const EvaluateOptions& options)
      : collection_(&collection), options_(&options) {}

  const JudgedQuery& QueryOf(const QueryEvaluation& evaluation) const {
    return collection_->queries[evaluation.query];
  }
  // scores[d] is that of document d.
  void MeasureAll(std::span<const float> scores, QueryEvaluation& evaluation);
  // scores[i] is that of the query's judgement i.
  void MeasureJudged(std::span<const float> scores,
                     QueryEvaluation& evaluation);

 private:
  // Measures by `scores` and relevant_, both by position.
  void Measure(std::span<const float> scores, QueryEvaluation& evaluation);

  const Collection* collection_;
  const EvaluateOptions* options_;
  std::vector<GradedPosition> relevant_;
};

void QueryMeasurer::MeasureAll(std::span<const float> scores,
                               QueryEvaluation& evaluation) {
  relevant_.clear();
  for (const Judgement& judgement : QueryOf(evaluation).judgements) {
    if (judgement.grade < 1) continue;
    relevant_.push_back({judgement.document, judgement.grade});
  }
  Measure(scores, evaluation);
}

// Judgements are sorted by document, so ties keep the order of documents.
void QueryMeasurer::MeasureJudged(std::span<const float> scores,
                                  QueryEvaluation& evaluation) {
  const std::vector<Judgement>& judgements = QueryOf(evaluation).judgements;
  relevant_.clear();
  for (std::uint32_t i = 0; i < judgements.size(); ++i) {
    if (judgements[i].grade < 1) continue;
    relevant_.push_back({i, judgements[i].grade});
  }
  Measure(scores, evaluation);
  for (RankedDocument& ranked : evaluation.run) {
    ranked.index = judgements[ranked.index].document;
  }
}

void QueryMeasurer::Measure(std::span<const float> scores,
                            QueryEvaluation& evaluation) {
  std::vector<RankedGrade> ranked = RankRelevant(scores, relevant_);
  // Judged documents that the collection does not have belong to the ideal
  // ranking, and no ranking finds them.
  std::vector<int> missing = QueryOf(evaluation).missing_grades;
  for (const GradedPosition& document : relevant_) {
    if (IsRanked(scores[document.position])) continue;
    missing.push_back(document.grade);
  }
  evaluation.has_ties = TiesMatter(ranked);
  if (options_->ties == Ties::kTrec) BreakTies(ranked);
  evaluation.metrics = ComputeMetrics(ranked, missing, options_->gain);
  // Documents that are not ranked are not candidates. Relevant ones still
  // count, as ranked below all others.
  const std::size_t num_not_ranked = relevant_.size() - ranked.size();
  evaluation.tuples = CountRankingTuples(ranked, missing.size(),
                                         scores.size() - num_not_ranked);
  if (options_->run_depth == 0) return;
  RankScores(scores, options_->run_depth, evaluation.run);
  std::erase_if(evaluation.run, [](const RankedDocument& document) {
    return !IsRanked(document.score);
  });
}

// The memory that one worker reuses for its blocks of queries.
struct Worker {
  QueryMeasurer measurer;
  std::vector<float> scores;
};

void RankJudged(const Ranker& ranker, QueryEvaluation& evaluation,
                Worker& worker) {
  const JudgedQuery& query = worker.measurer.QueryOf(evaluation);
  std::vector<std::uint32_t> documents;
  for (const Judgement& j : query.judgements) documents.push_back(j.document);
  worker.scores.resize(documents.size());
  ranker.ScoreSome(query.text, documents, worker.scores);
  worker.measurer.MeasureJudged(worker.scores, evaluation);
}

// Memory: 4 bytes x block.size() x documents.
void RankAll(const Ranker& ranker, std::span<QueryEvaluation> block,
             Worker& worker) {
  const std::size_t num_documents = ranker.num_documents();
  std::vector<std::string_view> texts;
  for (const QueryEvaluation& evaluation : block) {
    texts.push_back(worker.measurer.QueryOf(evaluation).text);
  }
  worker.scores.resize(block.size() * num_documents);
  ranker.ScoreAll(texts, worker.scores.data());
  std::span<const float> rest(worker.scores);
  for (QueryEvaluation& evaluation : block) {
    worker.measurer.MeasureAll(rest.first(num_documents), evaluation);
    rest = rest.subspan(num_documents);
  }
}

}  // namespace

void Summarize(Evaluation& evaluation) {
  std::vector<MetricValues> values;
  values.reserve(evaluation.queries.size());
  for (const QueryEvaluation& query : evaluation.queries) {
    values.push_back(query.metrics);
  }
  evaluation.summary = Summarize(values);
}

std::optional<double> Evaluation::ranking_loss() const {
  RankingTuples sum;
  for (const QueryEvaluation& query : queries) {
    sum.wrong += query.tuples.wrong;
    sum.total += query.tuples.total;
  }
  if (sum.total == 0) return std::nullopt;
  return sum.wrong / sum.total;
}

std::optional<MeanAndError> Evaluation::mean_ranking_loss() const {
  std::vector<double> losses;
  for (const QueryEvaluation& query : queries) {
    if (const auto loss = query.tuples.loss()) losses.push_back(*loss);
  }
  if (losses.empty()) return std::nullopt;
  return MeanOf(losses);
}

double Evaluation::tied_share() const {
  const auto num_tied = std::count_if(
      queries.begin(), queries.end(),
      [](const QueryEvaluation& query) { return query.has_ties; });
  return static_cast<double>(num_tied) / static_cast<double>(queries.size());
}

Evaluation Evaluation::OfQueries(std::span<const std::uint32_t> wanted) const {
  Evaluation part{ranker, {}, {}};
  for (const QueryEvaluation& query : queries) {
    if (std::binary_search(wanted.begin(), wanted.end(), query.query)) {
      part.queries.push_back(query);
    }
  }
  Summarize(part);
  return part;
}

absl::StatusOr<Evaluation> EvaluateRanker(const Ranker& ranker,
                                          const Collection& collection,
                                          const EvaluateOptions& options,
                                          ThreadPool& pool) {
  assert(ranker.num_documents() == collection.documents.size());
  Evaluation evaluation{ranker.name(), QueriesToEvaluate(collection), {}};
  const std::span<QueryEvaluation> queries(evaluation.queries);
  std::vector<Worker> workers(pool.num_threads(),
                              {QueryMeasurer(collection, options), {}});
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
      const auto part = now.subspan(first, std::min(block, now.size() - first));
      if (options.candidates == Candidates::kAll) {
        return RankAll(ranker, part, workers[worker]);
      }
      for (QueryEvaluation& query : part) {
        RankJudged(ranker, query, workers[worker]);
      }
    });
    done += now.size();
    if (progress) progress->Update(static_cast<std::int64_t>(done));
  }
  Summarize(evaluation);
  return evaluation;
}

Evaluation EvaluateRun(const TrecRun& run, const Collection& collection,
                       const EvaluateOptions& options) {
  Evaluation evaluation{"run", QueriesToEvaluate(collection), {}};
  QueryMeasurer measurer(collection, options);
  std::vector<float> scores, judged;
  for (QueryEvaluation& query : evaluation.queries) {
    // A run lists the best documents only; the others are not found.
    scores.assign(collection.documents.size(), kNotRanked);
    for (const ScoredDocument& document : run[query.query]) {
      scores[document.document] = document.score;
    }
    if (options.candidates == Candidates::kAll) {
      measurer.MeasureAll(scores, query);
      continue;
    }
    judged.clear();
    for (const Judgement& judgement : measurer.QueryOf(query).judgements) {
      judged.push_back(scores[judgement.document]);
    }
    measurer.MeasureJudged(judged, query);
  }
  Summarize(evaluation);
  return evaluation;
}

}  // namespace semrank
