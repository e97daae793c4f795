// Base of BM25 and TF-IDF: an inverted index over bags of features. The score
// of a document is
//
//   sum over features f of query weight(f) * document weight(f)
//
// Document weights are computed once; a query visits only the documents that
// share a feature with it. Features of no document are dropped.
//
//   Memory   8 bytes for each distinct feature of each document.
//   Threads  as Ranker.
#ifndef SEMRANK_MODEL_EVAL_RANKERS_LEXICAL_RANKER_H_
#define SEMRANK_MODEL_EVAL_RANKERS_LEXICAL_RANKER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "model/eval/rankers/ranker.h"
#include "model/text/featurizer.h"

namespace semrank {

class LexicalRanker : public Ranker {
 public:
  std::size_t num_documents() const override { return num_documents_; }
  void ScoreAll(std::span<const std::string_view> queries,
                float* scores) const override;

 protected:
  // A bag whose counts are to be replaced by weights.
  struct Bag {
    std::span<const std::uint32_t> features;
    std::span<float> values;
  };

  // Counts in how many documents each feature occurs.
  LexicalRanker(Featurizer featurizer,
                const std::vector<std::string>& documents);

  // Fills the index; to be called once, by the constructor of a subclass, with
  // the same documents.
  void BuildIndex(const std::vector<std::string>& documents,
                  const std::function<void(Bag)>& weigh_document);

  virtual void WeighQuery(Bag bag) const = 0;

  std::int64_t DocumentFrequency(std::uint32_t feature) const {
    return static_cast<std::int64_t>(offsets_[feature + 1] - offsets_[feature]);
  }

 private:
  struct Posting {
    std::uint32_t document = 0;
    float weight = 0;
  };

  Featurizer featurizer_;
  std::size_t num_documents_;
  // The postings of feature f are [offsets_[f], offsets_[f + 1]), documents
  // rising.
  std::vector<std::size_t> offsets_;
  std::vector<Posting> postings_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_RANKERS_LEXICAL_RANKER_H_
