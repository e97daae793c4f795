// The measures of one ranking and their mean over queries.
//
//   NDCG@k   sum of gain(grade) / log2(rank + 1) over ranks 1..k, divided by
//            that of the best order of all judged documents. The gain is
//            2^grade - 1 (the papers') or the grade (trec_eval's ndcg_cut).
//   MAP      mean over relevant documents of precision at their rank.
//   MRR      1 / rank of the first relevant document.
//   P@10     relevant documents among the first ten, divided by ten, also when
//            there are fewer candidates.
//   Loss     fraction of tuples in the wrong order, over all queries together.
//   Binary   for MAP, MRR and P@10 a document of grade >= 1 is relevant;
//            negative grades have no gain.
//   Threads  thread-safe free functions.
#ifndef SEMRANK_MODEL_EVAL_METRICS_METRICS_H_
#define SEMRANK_MODEL_EVAL_METRICS_METRICS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace semrank {

enum Metric { kNdcgAt1, kNdcgAt3, kNdcgAt10, kMap, kMrr, kPAt10, kNumMetrics };

inline constexpr std::array<std::string_view, kNumMetrics> kMetricNames = {
    "ndcg@1", "ndcg@3", "ndcg@10", "map", "mrr", "p@10"};

// One value per metric, in [0, 1].
using MetricValues = std::array<double, kNumMetrics>;

enum class Gain { kExponential, kLinear };

// A relevant document (grade >= 1) and its rank, from 1.
struct RankedGrade {
  std::int64_t rank = 0;
  int grade = 0;
};

// A relevant document by the index of its score.
struct GradedPosition {
  std::uint32_t position = 0;
  int grade = 0;
};

// Ranks of the relevant documents among all scores, in order of rank: score
// falling, then position rising. Positions are distinct and below
// scores.size(). Cost: one pass over the scores for each relevant document;
// nothing is sorted.
std::vector<RankedGrade> RankRelevant(std::span<const float> scores,
                                      std::span<const GradedPosition> relevant);

// The measures of one query. `relevant`: every relevant document that was
// ranked, rank rising. `missing_grades`: positive grades of judged documents
// that were not ranked. Together they must not be empty.
MetricValues ComputeMetrics(std::span<const RankedGrade> relevant,
                            std::span<const int> missing_grades, Gain gain);

// SSI's ranking loss: tuples of a query, a relevant document and a candidate of
// grade 0 or less, and those of them whose candidate ranks above.
struct RankingTuples {
  std::int64_t wrong = 0;
  std::int64_t total = 0;
};

// As ComputeMetrics, of `num_candidates` ranked documents. Relevant documents
// that were not ranked are below all of them.
RankingTuples CountRankingTuples(std::span<const RankedGrade> relevant,
                                 std::size_t num_missing,
                                 std::size_t num_candidates);

struct MetricSummary {
  MetricValues mean{};
  // Sample standard deviation / sqrt(n); 0 for n = 1.
  MetricValues standard_error{};
};

MetricSummary Summarize(std::span<const MetricValues> values);

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_METRICS_METRICS_H_
