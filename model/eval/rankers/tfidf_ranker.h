// TF-IDF, a baseline with exactly the input of a letter or a word model: the
// cosine of two vectors with, for each feature of the text,
//
//   count * idf,   idf = ln((N + 1) / (n + 1)) + 1
//
// where n of the N documents contain the feature. Features of no document are
// dropped from the query, which scales its scores and changes no order.
#ifndef SEMRANK_MODEL_EVAL_RANKERS_TFIDF_RANKER_H_
#define SEMRANK_MODEL_EVAL_RANKERS_TFIDF_RANKER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/eval/rankers/lexical_ranker.h"

namespace semrank {

class TfidfRanker : public LexicalRanker {
 public:
  // "letter_tfidf" and "word_tfidf". `documents` are normalised and need not
  // outlive the call. InvalidArgument when ngram_length is out of range (see
  // ngram_vocabulary.h) or no document has a word.
  static absl::StatusOr<std::unique_ptr<TfidfRanker>> OfLetters(
      const std::vector<std::string>& documents, int ngram_length = 3);
  static absl::StatusOr<std::unique_ptr<TfidfRanker>> OfWords(
      const std::vector<std::string>& documents);

  std::string name() const override { return name_; }

 protected:
  enum class Vectors { kDropped, kKept };

  TfidfRanker(std::string name, Featurizer featurizer,
              const std::vector<std::string>& documents,
              Vectors vectors = Vectors::kDropped);

  // Available only if vectors are kept. The vector has norm 1 or no features.
  BagView VectorOf(std::uint32_t document) const {
    return vectors_.Bag(static_cast<int>(document));
  }

 private:
  void WeighQuery(Bag bag) const override { Weigh(bag); }
  // Replaces counts by weights with L2 norm 1.
  void Weigh(Bag bag) const;

  std::string name_;
  BagBatch vectors_;  // of the documents; empty unless kept
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_RANKERS_TFIDF_RANKER_H_
