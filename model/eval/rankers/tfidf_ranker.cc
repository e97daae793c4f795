#include "model/eval/rankers/tfidf_ranker.h"

#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "model/base/status_macros.h"
#include "model/text/ngram_vocabulary.h"
#include "model/text/vocabulary_builder.h"
#include "model/text/word_vocabulary.h"

namespace semrank {

namespace {

absl::StatusOr<VocabularyBuilder> CountWords(
    const std::vector<std::string>& documents) {
  VocabularyBuilder builder;
  for (const std::string& document : documents) builder.AddText(document);
  if (builder.num_distinct_words() == 0) {
    return absl::InvalidArgumentError("TF-IDF: no document has a word");
  }
  return builder;
}

}  // namespace

absl::StatusOr<std::unique_ptr<TfidfRanker>> TfidfRanker::OfLetters(
    const std::vector<std::string>& documents, int ngram_length) {
  SEMRANK_ASSIGN_OR_RETURN(const VocabularyBuilder builder,
                           CountWords(documents));
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
  SEMRANK_ASSIGN_OR_RETURN(const VocabularyBuilder builder,
                           CountWords(documents));
  SEMRANK_ASSIGN_OR_RETURN(WordVocabulary words,
                           WordVocabulary::FromList(builder.Words(0, 1)));
  SEMRANK_ASSIGN_OR_RETURN(Featurizer featurizer,
                           Featurizer::Create(std::nullopt, std::move(words)));
  return std::unique_ptr<TfidfRanker>(
      new TfidfRanker("word_tfidf", std::move(featurizer), documents));
}

TfidfRanker::TfidfRanker(std::string name, Featurizer featurizer,
                         const std::vector<std::string>& documents)
    : LexicalRanker(std::move(featurizer), documents), name_(std::move(name)) {
  BuildIndex(documents, [this](Bag bag) { Weigh(bag); });
}

void TfidfRanker::Weigh(Bag bag) const {
  const auto total = static_cast<double>(num_documents());
  double squares = 0;
  for (std::size_t i = 0; i < bag.features.size(); ++i) {
    const auto n = static_cast<double>(DocumentFrequency(bag.features[i]));
    const double idf = std::log((total + 1) / (n + 1)) + 1;
    bag.values[i] *= static_cast<float>(idf);
    squares += static_cast<double>(bag.values[i]) * bag.values[i];
  }
  if (squares == 0) return;
  const auto scale = static_cast<float>(1 / std::sqrt(squares));
  for (float& value : bag.values) value *= scale;
}

}  // namespace semrank
