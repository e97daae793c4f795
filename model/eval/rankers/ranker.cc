#include "model/eval/rankers/ranker.h"

#include <algorithm>
#include <cassert>
#include <vector>

namespace semrank {

void Ranker::ScoreSome(std::string_view query,
                       std::span<const std::uint32_t> documents,
                       std::span<float> scores) const {
  assert(documents.size() == scores.size());
  // Suits rankers over inverted lists: scoring all documents costs no more than
  // the lists that must be read anyway.
  std::vector<float> all(num_documents());
  ScoreAll(std::span(&query, 1), all.data());
  for (std::size_t i = 0; i < documents.size(); ++i) {
    scores[i] = all[documents[i]];
  }
}

void ListRanker::ScoreAll(std::span<const std::string_view> queries,
                          float* scores) const {
  std::fill_n(scores, queries.size() * num_documents_, 0.0f);
  for (const std::string_view query : queries) {
    ScoreQuery(query, scores);
    scores += num_documents_;
  }
}

}  // namespace semrank
