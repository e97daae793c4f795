#include "model/eval/rankers/query_expansion_ranker.h"

#include <Eigen/Core>
#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

#include "model/base/status_macros.h"
#include "model/eval/rankers/tfidf_ranker.h"
#include "model/eval/rankers/word_features.h"

namespace semrank {
namespace {

class QueryExpansionRanker : public TfidfRanker {
 public:
  QueryExpansionRanker(Featurizer words,
                       const std::vector<std::string>& documents,
                       const QueryExpansionOptions& options)
      : TfidfRanker("qe", std::move(words), documents, Vectors::kKept),
        options_(options),
        text_rank_(documents.size()) {
    // The rank of each document's text, so that ties are broken by texts and
    // not by the order of the file.
    std::vector<std::uint32_t> order(documents.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) {
                       return documents[a] < documents[b];
                     });
    for (std::size_t i = 0; i < order.size(); ++i) {
      text_rank_[order[i]] = static_cast<std::uint32_t>(i);
    }
  }

 private:
  void ScoreQuery(std::string_view query, float* scores) const override {
    TfidfRanker::ScoreQuery(query, scores);
    if (options_.weight == 0) return;
    // The cosine is linear in the query, so the scores of the documents' words
    // are added to the first scores.
    const auto factor =
        static_cast<float>(options_.weight / options_.num_documents);
    std::vector<std::pair<std::uint32_t, float>> expansion;
    for (const std::uint32_t d : Feedback({scores, num_documents()})) {
      const BagView vector = VectorOf(d);
      for (std::size_t i = 0; i < vector.indices.size(); ++i) {
        expansion.emplace_back(vector.indices[i], factor * vector.counts[i]);
      }
    }
    // Each word's list is read once. Equal words are added in one fixed order.
    std::stable_sort(
        expansion.begin(), expansion.end(),
        [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < expansion.size();) {
      const std::uint32_t feature = expansion[i].first;
      float weight = 0;
      for (; i < expansion.size() && expansion[i].first == feature; ++i) {
        weight += expansion[i].second;
      }
      AddScores({&feature, 1}, {&weight, 1}, scores);
    }
  }

  // The E best of `scores` that are above 0.
  std::vector<std::uint32_t> Feedback(std::span<const float> scores) const {
    const auto before = [&](std::uint32_t a, std::uint32_t b) {
      if (scores[a] != scores[b]) return scores[a] > scores[b];
      return text_rank_[a] < text_rank_[b];
    };
    // A heap of the E best, with the worst of them on top. Most blocks have no
    // document that belongs there and are skipped by their highest score.
    const auto limit = static_cast<std::size_t>(options_.num_documents);
    std::vector<std::uint32_t> best;
    const auto offer = [&](std::uint32_t d) {
      if (scores[d] <= 0) return;
      if (best.size() == limit) {
        if (!before(d, best.front())) return;
        std::pop_heap(best.begin(), best.end(), before);
        best.pop_back();
      }
      best.push_back(d);
      std::push_heap(best.begin(), best.end(), before);
    };
    constexpr std::size_t kBlock = 64;
    for (std::size_t begin = 0; begin < scores.size(); begin += kBlock) {
      const auto block =
          scores.subspan(begin, std::min(kBlock, scores.size() - begin));
      const float lowest = best.size() == limit
                               ? scores[best.front()]
                               : std::numeric_limits<float>::denorm_min();
      // Not <=: if scores are equal, offer compares the texts.
      const Eigen::Map<const Eigen::ArrayXf> values(
          block.data(), static_cast<Eigen::Index>(block.size()));
      if (values.maxCoeff() < lowest) continue;
      for (std::size_t i = 0; i < block.size(); ++i) {
        offer(static_cast<std::uint32_t>(begin + i));
      }
    }
    std::sort(best.begin(), best.end(), before);
    return best;
  }

  QueryExpansionOptions options_;
  std::vector<std::uint32_t> text_rank_;  // of each document, in byte order
};

}  // namespace

absl::StatusOr<std::unique_ptr<Ranker>> CreateQueryExpansionRanker(
    const std::vector<std::string>& documents,
    const QueryExpansionOptions& options) {
  SEMRANK_ASSIGN_OR_RETURN(Featurizer words,
                           WordFeatures("query expansion", documents));
  return std::make_unique<QueryExpansionRanker>(std::move(words), documents,
                                                options);
}

}  // namespace semrank
