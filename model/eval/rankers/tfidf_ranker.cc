#include "model/eval/rankers/tfidf_ranker.h"

#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "model/base/status_macros.h"
#include "model/eval/rankers/word_features.h"
#include "model/text/ngram_vocabulary.h"
#include "model/text/vocabulary_builder.h"

namespace semrank {

absl::StatusOr<std::unique_ptr<TfidfRanker>> TfidfRanker::OfLetters(
    const std::vector<std::string>& documents, int ngram_length) {
  VocabularyBuilder builder;
  for (const std::string& document : documents) builder.AddText(document);
  if (builder.num_distinct_words() == 0) {
    return absl::InvalidArgumentError("TF-IDF: no document has a word");
  }
  // All n-grams of the documents, as a letter model has those of its titles.
  SEMRANK_ASSIGN_OR_RETURN(
      NgramVocabulary ngrams,
      NgramVocabulary::FromList(ngram_length,
                                builder.LetterNgrams(ngram_length, 0, 1)));
  SEMRANK_ASSIGN_OR_RETURN(Featurizer featurizer,
                           Featurizer::Create(std::move(ngrams), std::nullopt));
  return std::unique_ptr<TfidfRanker>(
      new TfidfRanker("letter_tfidf", std::move(featurizer), documents));
}

absl::StatusOr<std::unique_ptr<TfidfRanker>> TfidfRanker::OfWords(
    const std::vector<std::string>& documents) {
  SEMRANK_ASSIGN_OR_RETURN(Featurizer featurizer,
                           WordFeatures("TF-IDF", documents));
  return std::unique_ptr<TfidfRanker>(
      new TfidfRanker("word_tfidf", std::move(featurizer), documents));
}

TfidfRanker::TfidfRanker(std::string name, Featurizer featurizer,
                         const std::vector<std::string>& documents,
                         Vectors vectors)
    : LexicalRanker(std::move(featurizer), documents), name_(std::move(name)) {
  BagBatch weighted = BuildIndex([this](Bag bag) { Weigh(bag); });
  if (vectors == Vectors::kKept) vectors_ = std::move(weighted);
}

void TfidfRanker::Weigh(Bag bag) const {
  const auto total = static_cast<double>(num_documents());
  double squares = 0;
  for (std::size_t i = 0; i < bag.features.size(); ++i) {
    const auto n = static_cast<double>(DocumentFrequency(bag.features[i]));
    // At least 1, so a feature of all documents still counts. SSI's models use
    // the same idf (ssi_statistics.h).
    const double idf = std::log((total + 1) / (n + 1)) + 1;
    bag.values[i] *= static_cast<float>(idf);
    squares += static_cast<double>(bag.values[i]) * bag.values[i];
  }
  if (squares == 0) return;
  // With documents and queries of norm 1 the dot product is the cosine.
  const auto scale = static_cast<float>(1 / std::sqrt(squares));
  for (float& value : bag.values) value *= scale;
}

}  // namespace semrank
