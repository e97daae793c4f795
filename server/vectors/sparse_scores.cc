#include "server/vectors/sparse_scores.h"

#include <vector>

#include "model/nn/sparse_scorer.h"
#include "model/text/featurizer.h"

namespace semrank {
namespace {

struct Scratch {
  std::vector<std::string_view> titles;
  BagBatch query_words;
  BagBatch title_words;
  SparseScorer::Scratch scorer;
};

}  // namespace

void AddSparseScores(const TwoTowerModel& model, std::string_view query,
                     const TextBatch& titles, std::span<float> scores) {
  if (model.sparse_scorer() == nullptr) return;
  thread_local Scratch scratch;
  scratch.titles.clear();
  for (int i = 0; i < titles.size(); ++i) scratch.titles.push_back(titles[i]);
  model.WeighTexts(std::span(&query, 1), scratch.query_words);
  model.WeighTexts(scratch.titles, scratch.title_words);
  // Spreads the query's words over the vocabulary once; its scratch is one
  // array of the vocabulary's size for each thread.
  const SparseScorer::PreparedQuery prepared(
      *model.sparse_scorer(), scratch.query_words, 0, scratch.scorer);
  for (int i = 0; i < titles.size(); ++i) {
    scores[i] += prepared.Score(scratch.title_words, i);
  }
}

}  // namespace semrank
