#include "model/eval/rankers/ranker.h"

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

}  // namespace semrank
