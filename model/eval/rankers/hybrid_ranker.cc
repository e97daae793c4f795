#include "model/eval/rankers/hybrid_ranker.h"

#include <algorithm>
#include <cassert>
#include <utility>
#include <vector>

namespace semrank {

HybridRanker::HybridRanker(std::unique_ptr<const Ranker> first,
                           std::unique_ptr<const Ranker> second, double weight)
    : first_(std::move(first)),
      second_(std::move(second)),
      weight_(static_cast<float>(weight)) {
  assert(first_->num_documents() == second_->num_documents());
}

std::string HybridRanker::name() const {
  return first_->name() + "+" + second_->name();
}

float HybridRanker::FactorOf(std::span<const float> second_scores) const {
  float best = 0;
  for (const float score : second_scores) best = std::max(best, score);
  // Without a match there is no scale and nothing to add.
  return best > 0 ? weight_ / best : 0;
}

void HybridRanker::ScoreAll(std::span<const std::string_view> queries,
                            float* scores) const {
  const std::size_t num = num_documents();
  std::vector<float> second(queries.size() * num);
  first_->ScoreAll(queries, scores);
  second_->ScoreAll(queries, second.data());
  for (std::size_t q = 0; q < queries.size(); ++q) {
    const auto row = std::span(second).subspan(q * num, num);
    // The best document of the second ranker gets `weight`, as its own scores
    // have no fixed range.
    const float factor = FactorOf(row);
    for (std::size_t d = 0; d < num; ++d) {
      scores[q * num + d] += factor * row[d];
    }
  }
}

void HybridRanker::ScoreSome(std::string_view query,
                             std::span<const std::uint32_t> documents,
                             std::span<float> scores) const {
  std::vector<float> second(num_documents());
  first_->ScoreSome(query, documents, scores);
  // Scores all documents, as `best` must not depend on the candidates.
  second_->ScoreAll(std::span(&query, 1), second.data());
  const float factor = FactorOf(second);
  for (std::size_t i = 0; i < documents.size(); ++i) {
    scores[i] += factor * second[documents[i]];
  }
}

}  // namespace semrank
