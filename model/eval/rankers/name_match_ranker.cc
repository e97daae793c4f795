#include "model/eval/rankers/name_match_ranker.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>

#include "model/text/name_match.h"
#include "model/text/normalizer.h"

namespace semrank {
namespace {

struct LiftedDocument {
  NameMatch match;
  float score;
  std::uint32_t document;
};

}  // namespace

NameMatchRanker::NameMatchRanker(std::unique_ptr<const Ranker> ranker,
                                 const Collection& collection)
    : ranker_(std::move(ranker)),
      collection_(collection),
      normalized_ids_(collection.document_ids.size()) {
  for (std::size_t d = 0; d < normalized_ids_.size(); ++d) {
    // An id of invalid UTF-8 is not a name.
    NormalizeText(collection.document_ids[d], normalized_ids_[d]).IgnoreError();
  }
}

void NameMatchRanker::ScoreAll(std::span<const std::string_view> queries,
                               float* scores) const {
  ranker_->ScoreAll(queries, scores);
  for (const std::string_view query : queries) {
    Lift(query, std::span(scores, num_documents()));
    scores += num_documents();
  }
}

void NameMatchRanker::Lift(std::string_view query,
                           std::span<float> scores) const {
  std::vector<LiftedDocument> lifted;
  for (std::uint32_t d = 0; d < scores.size(); ++d) {
    const NameMatch match =
        MatchName(query, normalized_ids_[d], collection_.documents[d]);
    if (match != NameMatch::kNone) lifted.push_back({match, scores[d], d});
  }
  if (lifted.empty()) return;
  const auto key = [](const LiftedDocument& document) {
    return std::tuple(document.match, document.score);
  };
  std::sort(lifted.begin(), lifted.end(),
            [key](const LiftedDocument& a, const LiftedDocument& b) {
              return key(a) < key(b);
            });
  // Above 1, which no cosine exceeds, and above any score of the ranker.
  float score =
      1 + std::max(0.0f, *std::max_element(scores.begin(), scores.end()));
  for (std::size_t i = 0; i < lifted.size(); ++i) {
    // The worst document comes first, and each next one gets a score that is
    // higher by the smallest step of a float. Documents that were tied stay
    // tied.
    if (i == 0 || key(lifted[i - 1]) < key(lifted[i])) {
      score = std::nextafter(score, std::numeric_limits<float>::infinity());
    }
    scores[lifted[i].document] = score;
  }
}

}  // namespace semrank
