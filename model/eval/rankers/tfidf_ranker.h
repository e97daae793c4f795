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
#include "model/eval/rankers/list_ranker.h"

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

// QE, query expansion by blind relevance feedback, as section 4 of the SSI
// paper defines it: the documents are ranked by TF-IDF of words, then again
// with the query
//
//   q' = q + beta / E * sum over the E highest ranked documents of d
//
// where q and d are TF-IDF vectors of norm 1.
//
// The paper tunes beta and E; here they are options, which --tune can choose.
// The time grows with E. Documents of score 0 are not used for feedback: if
// fewer than E documents are found, the sum has fewer, but is still divided by
// E. Among documents with equal scores those whose text comes first in byte
// order are used, so that the result depends on texts alone.
struct QueryExpansionOptions {
  int num_documents = 2;  // E, at least 1
  double weight = 0.5;    // beta; 0 = TF-IDF
};

// `documents` are normalised and need not outlive the call. InvalidArgument if
// no document has a word.
absl::StatusOr<std::unique_ptr<Ranker>> CreateQueryExpansionRanker(
    const std::vector<std::string>& documents,
    const QueryExpansionOptions& options);

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_RANKERS_TFIDF_RANKER_H_
