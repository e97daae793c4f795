// TF-IDF over letter n-grams, a baseline with exactly the input of a letter
// model: the cosine of two vectors with, for each n-gram of the text,
//
//   count * idf,   idf = ln((N + 1) / (n + 1)) + 1
//
// where n of the N documents contain the n-gram. n-grams of no document are
// dropped from the query, which scales its scores and changes no order.
#ifndef SEMRANK_MODEL_EVAL_RANKERS_LETTER_TFIDF_RANKER_H_
#define SEMRANK_MODEL_EVAL_RANKERS_LETTER_TFIDF_RANKER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/eval/rankers/lexical_ranker.h"

namespace semrank {

class LetterTfidfRanker : public LexicalRanker {
 public:
  // `documents` are normalised and need not outlive the call. InvalidArgument
  // when ngram_length is out of range (see ngram_vocabulary.h) or no document
  // has a word.
  static absl::StatusOr<std::unique_ptr<LetterTfidfRanker>> Create(
      const std::vector<std::string>& documents, int ngram_length = 3);

  std::string name() const override { return "letter_tfidf"; }

 private:
  LetterTfidfRanker(Featurizer featurizer,
                    const std::vector<std::string>& documents);
  void WeighQuery(Bag bag) const override { Weigh(bag); }
  // Replaces counts by weights with L2 norm 1.
  void Weigh(Bag bag) const;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_RANKERS_LETTER_TFIDF_RANKER_H_
