// Each query is measured by the scores of its candidates and the positions of
// the relevant ones. Among tied documents the lower position ranks first.
//
//   Rankers  position d is document d. Collection sorts documents by descending
//            id, which is trec_eval's order of ties.
//   Judged   position i is judgement i of the query, in the same order.
//   Runs     MergedPositions inserts the documents that the collection lacks.
#include "model/eval/metrics/evaluate.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <functional>
#include <iterator>
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
// Blocks per thread between two updates of the progress bar, where Ctrl-C
// takes effect.
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

std::vector<int> GradesOf(const std::vector<MissingDocument>& missing) {
  std::vector<int> grades;
  std::ranges::transform(missing, std::back_inserter(grades),
                         &MissingDocument::grade);
  return grades;
}

// Positions of the collection's documents and of those that only one
// ranking has, in descending order of id, which decides ties. Only the
// latter take memory.
class MergedPositions {
 public:
  MergedPositions(const std::vector<ScoredDocument>& ranking,
                  const std::vector<std::string>& unknown_ids,
                  const std::vector<std::string>& ids)
      : num_known_(static_cast<std::uint32_t>(ids.size())) {
    for (const ScoredDocument& ranked : ranking) {
      if (ranked.document >= num_known_) unknown_.push_back(ranked.document);
    }
    const auto id_of = [&](std::uint32_t document) -> const std::string& {
      return unknown_ids[document - num_known_];
    };
    std::ranges::sort(unknown_, std::greater<>(), id_of);
    for (const std::uint32_t document : unknown_) {
      known_before_.push_back(static_cast<std::uint32_t>(
          std::ranges::lower_bound(ids, id_of(document), std::greater<>()) -
          ids.begin()));
    }
  }

  std::size_t size() const { return num_known_ + unknown_.size(); }

  std::uint32_t FindPosition(std::uint32_t document) const {
    if (document < num_known_) {
      // Documents of `unknown_` that precede this one have at most `document`
      // of the collection before them. The list ascends, as unknown_ is sorted.
      const auto above = std::ranges::upper_bound(known_before_, document);
      return document +
             static_cast<std::uint32_t>(above - known_before_.begin());
    }
    const auto place = static_cast<std::uint32_t>(
        std::ranges::find(unknown_, document) - unknown_.begin());
    return known_before_[place] + place;
  }

  std::uint32_t DocumentAt(std::uint32_t position) const {
    for (std::uint32_t place = 0; place < unknown_.size(); ++place) {
      const std::uint32_t its_position = known_before_[place] + place;
      if (its_position == position) return unknown_[place];
      if (its_position > position) return position - place;
    }
    return position - static_cast<std::uint32_t>(unknown_.size());
  }

 private:
  std::uint32_t num_known_;
  std::vector<std::uint32_t> unknown_;  // by descending id
  // How many of the collection's documents have a higher id than each of them.
  std::vector<std::uint32_t> known_before_;
};

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
  void MeasureAll(std::span<const float> scores, QueryEvaluation& evaluation) {
    relevant_.clear();
    for (const Judgement& judgement : QueryOf(evaluation).judgements) {
      if (judgement.grade < 1) continue;
      relevant_.push_back({judgement.document, judgement.grade});
    }
    Measure(scores, GradesOf(QueryOf(evaluation).missing), evaluation);
  }

  // scores[i] is that of the query's judgement i. Judgements are sorted by
  // document, so ties keep the order of documents.
  void MeasureJudged(std::span<const float> scores,
                     QueryEvaluation& evaluation) {
    const std::vector<Judgement>& judgements = QueryOf(evaluation).judgements;
    relevant_.clear();
    for (std::uint32_t i = 0; i < judgements.size(); ++i) {
      if (judgements[i].grade < 1) continue;
      relevant_.push_back({i, judgements[i].grade});
    }
    Measure(scores, GradesOf(QueryOf(evaluation).missing), evaluation);
    for (RankedDocument& ranked : evaluation.run) {
      ranked.index = judgements[ranked.index].document;
    }
  }

  // `unknown_ids`: those of the documents that follow the collection's.
  void MeasureRun(const std::vector<ScoredDocument>& ranking,
                  const std::vector<std::string>& unknown_ids,
                  QueryEvaluation& evaluation) {
    const JudgedQuery& query = QueryOf(evaluation);
    const MergedPositions positions(ranking, unknown_ids,
                                    collection_->document_ids);
    // A run lists the best documents only; the others are not found.
    run_scores_.assign(positions.size(), kNotRanked);
    relevant_.clear();
    for (const Judgement& judgement : query.judgements) {
      if (judgement.grade < 1) continue;
      relevant_.push_back(
          {positions.FindPosition(judgement.document), judgement.grade});
    }
    std::vector<MissingDocument> missing = query.missing;
    for (const ScoredDocument& document : ranking) {
      const std::uint32_t position = positions.FindPosition(document.document);
      run_scores_[position] = document.score;
      if (document.document < collection_->document_ids.size()) continue;
      const auto judged = std::ranges::find(
          missing,
          unknown_ids[document.document - collection_->document_ids.size()],
          &MissingDocument::id);
      if (judged == missing.end()) continue;
      relevant_.push_back({position, judged->grade});
      // The run found it: it counts by its rank. What is still in `missing` at
      // the end counts as not found.
      missing.erase(judged);
    }
    Measure(run_scores_, GradesOf(missing), evaluation);
    for (RankedDocument& ranked : evaluation.run) {
      ranked.index = positions.DocumentAt(ranked.index);
    }
  }

 private:
  // Measures by `scores` and relevant_, both by position. `missing`: grades of
  // relevant documents that have no position.
  void Measure(std::span<const float> scores, std::vector<int> missing,
               QueryEvaluation& evaluation) {
    std::vector<RankedGrade> ranked = RankRelevant(scores, relevant_);
    // Judged documents that the collection does not have belong to the ideal
    // ranking, and so do those that are not ranked.
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

  const Collection* collection_;
  const EvaluateOptions* options_;
  std::vector<GradedPosition> relevant_;
  std::vector<float> run_scores_;
};

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
  std::ranges::transform(evaluation.queries, std::back_inserter(values),
                         &QueryEvaluation::metrics);
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
  const auto num_tied =
      std::ranges::count(queries, true, &QueryEvaluation::has_ties);
  return static_cast<double>(num_tied) / static_cast<double>(queries.size());
}

Evaluation Evaluation::OfQueries(std::span<const std::uint32_t> wanted) const {
  Evaluation part{ranker, {}, {}, unknown_ids};
  for (const QueryEvaluation& query : queries) {
    if (std::ranges::binary_search(wanted, query.query)) {
      part.queries.push_back(query);
    }
  }
  Summarize(part);
  return part;
}

const std::string& Evaluation::IdOf(std::uint32_t document,
                                    const Collection& collection) const {
  const std::size_t num_known = collection.document_ids.size();
  return document < num_known ? collection.document_ids[document]
                              : unknown_ids[document - num_known];
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
    if (options.stops_when_interrupted && Interrupted()) {
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
  Evaluation evaluation{
      "run", QueriesToEvaluate(collection), {}, run.unknown_ids};
  QueryMeasurer measurer(collection, options);
  std::vector<float> scores, judged;
  for (QueryEvaluation& query : evaluation.queries) {
    const std::vector<ScoredDocument>& ranking = run.rankings[query.query];
    if (options.candidates == Candidates::kAll) {
      measurer.MeasureRun(ranking, run.unknown_ids, query);
      continue;
    }
    scores.assign(collection.documents.size(), kNotRanked);
    for (const ScoredDocument& document : ranking) {
      if (document.document >= scores.size()) continue;
      scores[document.document] = document.score;
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
