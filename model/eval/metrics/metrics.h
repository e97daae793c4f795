// The measures of one ranking and their mean over queries.
//
//   NDCG@k   sum of gain(grade) / log2(rank + 1) over ranks 1..k, divided by
//            that of the best order of all judged documents. The gain is
//            2^grade - 1 (the papers') or the grade (trec_eval's ndcg_cut).
//   MAP      mean over relevant documents of precision at their rank.
//   MRR      1 / rank of the first relevant document.
//   P@10     relevant documents among the first ten, divided by ten, also when
//            there are fewer candidates.
//   Loss     fraction of the query's tuples in the wrong order.
//   Binary   for MAP, MRR and P@10 a document of grade >= 1 is relevant;
//            negative grades have no gain.
//   Ties     each metric is its mean over all orders of the documents of equal
//            score, in closed form (McSherry and Najork, ECIR 2008).
#ifndef SEMRANK_MODEL_EVAL_METRICS_METRICS_H_
#define SEMRANK_MODEL_EVAL_METRICS_METRICS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace semrank {

enum Metric { kNdcgAt1, kNdcgAt3, kNdcgAt10, kMap, kMrr, kPAt10, kNumMetrics };

inline constexpr std::array<std::string_view, kNumMetrics> kMetricNames = {
    "ndcg@1", "ndcg@3", "ndcg@10", "map", "mrr", "p@10"};

// One value per metric, in [0, 1].
using MetricValues = std::array<double, kNumMetrics>;
// The values by the names above.
nlohmann::ordered_json MetricsJson(const MetricValues& values);

enum class Gain { kExponential, kLinear };

// The score of a document that a ranking does not list: it is not found, as if
// it were not in the collection.
inline constexpr float kNotRanked = -std::numeric_limits<float>::infinity();
// False for NaN too, so that a model that diverged finds nothing.
inline bool IsRanked(float score) { return score > kNotRanked; }

// A relevant document (grade >= 1) and the ranks that it shares with the other
// documents of its score: rank .. rank + tied - 1, where ranks count from 1.
struct RankedGrade {
  std::int64_t rank = 0;
  int grade = 0;
  std::int64_t tied = 1;         // documents of this score, itself included
  std::int64_t tied_before = 0;  // of them, those at a lower position
};

// A relevant document by the index of its score.
struct GradedPosition {
  std::uint32_t position = 0;
  int grade = 0;
};

// Ranks of the relevant documents among all scores, in order of rank, then of
// position, without those that are not ranked. Positions are distinct and below
// scores.size(). Cost: three passes over the scores for each relevant document;
// nothing is sorted.
std::vector<RankedGrade> RankRelevant(std::span<const float> scores,
                                      std::span<const GradedPosition> relevant);

// Whether the order of tied documents could change a metric.
bool TiesMatter(std::span<const RankedGrade> relevant);

// Gives each document a rank of its own: of equal scores, the lower position
// ranks first.
void BreakTies(std::vector<RankedGrade>& relevant);

// The measures of one query. `relevant`: every relevant document that was
// ranked, in the order of RankRelevant. `missing_grades`: positive grades of
// judged documents that were not ranked. Together they must not be empty.
MetricValues ComputeMetrics(std::span<const RankedGrade> relevant,
                            std::span<const int> missing_grades, Gain gain);

// SSI's ranking loss: tuples of a query, a relevant document and a candidate of
// grade 0 or less, and those of them whose candidate ranks above.
struct RankingTuples {
  double wrong = 0;  // a tied tuple is half wrong
  double total = 0;

  std::optional<double> loss() const {
    if (total == 0) return std::nullopt;
    return wrong / total;
  }
};

// As ComputeMetrics, of `num_candidates` ranked documents. Relevant documents
// that were not ranked are below all of them.
RankingTuples CountRankingTuples(std::span<const RankedGrade> relevant,
                                 std::size_t num_missing,
                                 std::size_t num_candidates);

struct MeanAndError {
  double mean = 0;
  // Sample standard deviation / sqrt(n); 0 for n = 1.
  double standard_error = 0;
};

MeanAndError MeanOf(std::span<const double> values);

struct MetricSummary {
  MetricValues mean{};
  MetricValues standard_error{};  // as MeanAndError's
};

MetricSummary Summarize(std::span<const MetricValues> values);

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_METRICS_METRICS_H_
