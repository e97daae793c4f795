// Base of BM25 and TF-IDF: inverted lists over bags of features. The score of a
// document is
//
//   sum over features f of query weight(f) * document weight(f)
//
// Document weights are computed once; a query visits only the documents that
// share a feature with it. Features of no document are dropped.
//
//   Memory   8 bytes for each distinct feature of each document; twice that
//            during construction.
//   Threads  as Ranker.
#ifndef SEMRANK_MODEL_EVAL_RANKERS_LEXICAL_RANKER_H_
#define SEMRANK_MODEL_EVAL_RANKERS_LEXICAL_RANKER_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/eval/rankers/inverted_lists.h"
#include "model/eval/rankers/ranker.h"
#include "model/text/featurizer.h"

namespace semrank {

class LexicalRanker : public ListRanker {
 protected:
  // A bag whose counts are replaced by weights.
  struct Bag {
    std::span<const std::uint32_t> features;
    std::span<float> values;
  };

  // Counts in how many documents each feature occurs.
  LexicalRanker(Featurizer featurizer,
                const std::vector<std::string>& documents);

  // Fills the lists and returns the weighted documents. The constructor of a
  // subclass calls this once.
  BagBatch BuildIndex(const std::function<void(Bag)>& weigh_document);

  virtual void WeighQuery(Bag bag) const = 0;

  std::int64_t DocumentFrequency(std::uint32_t feature) const {
    return document_frequencies_[feature];
  }

  void ScoreQuery(std::string_view query, float* scores) const override;
  // Adds the scores of a weighted query to those of all documents.
  void AddScores(std::span<const std::uint32_t> features,
                 std::span<const float> weights, float* scores) const;

 private:
  Featurizer featurizer_;
  BagBatch documents_;  // their counts, until BuildIndex
  std::vector<std::uint32_t> document_frequencies_;
  InvertedLists lists_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_RANKERS_LEXICAL_RANKER_H_
