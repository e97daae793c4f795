#include "model/eval/rankers/document_translator.h"

#include <cmath>

#include "model/eval/rankers/word_features.h"
#include "model/text/normalizer.h"

namespace semrank {
namespace {

constexpr double kMinTranslation = 0.001;
constexpr double kMinWeight = 0.1;

}  // namespace

DocumentTranslator::DocumentTranslator(const TranslationModel& model,
                                       const TranslationVocabulary& vocabulary,
                                       const TranslationSmoothing& smoothing)
    : model_(model),
      vocabulary_(vocabulary),
      smoothing_(smoothing),
      probability_(vocabulary.size()) {}

void DocumentTranslator::AppendWords(std::string_view document,
                                     BagBatch& bags) {
  const double share = 1 / LengthInWords(document);
  ForEachWord(document, [&](std::string_view text) {
    const std::uint32_t word = *vocabulary_.Find(text);
    // P_mx (translation_ranker.h): beta of the word's share stays with the word
    // itself, the rest goes to what it is translated to.
    Add(word, smoothing_.self * share);
    AddTranslations(word, (1 - smoothing_.self) * share);
  });
  // log P_s - log(alpha P(q|C)) = log(1 + (1 - alpha) / alpha x P_mx / P(q|C)).
  const double odds = (1 - smoothing_.background) / smoothing_.background;
  for (const std::uint32_t word : found_) {
    const double weight =
        std::log1p(odds * probability_[word] / vocabulary_.Background(word));
    probability_[word] = 0;
    // Bounds the lists: the translations of a title have a long tail of words
    // that hardly change its score.
    if (weight < kMinWeight) continue;
    bags.indices.push_back(word);
    bags.counts.push_back(static_cast<float>(weight));
  }
  found_.clear();
}

void DocumentTranslator::Add(std::uint32_t word, double probability) {
  if (probability == 0) return;
  if (probability_[word] == 0) found_.push_back(word);
  probability_[word] += probability;
}

void DocumentTranslator::AddTranslations(std::uint32_t word,
                                         double probability) {
  // A word that no title of the log has: it translates to itself and so keeps
  // its share of the title.
  if (word >= model_.words.size() ||
      model_.word_translations.Of(word).empty()) {
    return Add(word, probability);
  }
  for (const auto& translation : model_.word_translations.Of(word)) {
    if (translation.probability < kMinTranslation) continue;
    Add(translation.target, probability * translation.probability);
  }
}

}  // namespace semrank
