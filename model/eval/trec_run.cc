#include "model/eval/trec_run.h"

#include <cmath>
#include <cstddef>
#include <limits>

#include "absl/strings/str_format.h"

namespace semrank {
namespace {

// The largest float below `previous` that readers keep apart from it: steps
// around zero would be denormal numbers, which some of them flush to zero.
float JustBelow(float previous) {
  constexpr float kSmallestStep = 1e-30f;
  const float next =
      std::nextafter(previous, -std::numeric_limits<float>::infinity());
  return std::abs(next) < kSmallestStep ? -kSmallestStep : next;
}

}  // namespace

std::string FormatTrecRun(const Evaluation& evaluation,
                          const Collection& collection) {
  std::string content;
  for (const QueryEvaluation& query : evaluation.queries) {
    const std::string& query_id = collection.queries[query.query].id;
    float previous = std::numeric_limits<float>::infinity();
    for (std::size_t i = 0; i < query.run.size(); ++i) {
      const RankedDocument& ranked = query.run[i];
      const float score =
          ranked.score < previous ? ranked.score : JustBelow(previous);
      // Nine digits tell any two floats apart.
      absl::StrAppendFormat(&content, "%s Q0 %s %d %.9g %s\n", query_id,
                            collection.document_ids[ranked.index], i + 1, score,
                            evaluation.ranker);
      previous = score;
    }
  }
  return content;
}

}  // namespace semrank
