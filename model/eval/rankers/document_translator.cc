#include "model/eval/rankers/document_translator.h"

#include <cmath>
#include <numeric>

#include "model/base/strings.h"
#include "model/eval/rankers/word_features.h"
#include "model/text/normalizer.h"

namespace semrank {
namespace {

constexpr double kMinTranslation = 0.001;
constexpr double kMinWeight = 0.1;

}  // namespace

TranslationVocabulary::TranslationVocabulary(
    const TranslationModel& model, const std::vector<std::string>& documents)
    : number_of_(model.number_of), background_(model.query_counts) {
  for (const std::string& document : documents) {
    ForEachWord(document, [&](std::string_view word) {
      // Words that the log does not have get numbers after the model's.
      const auto [entry, is_new] = number_of_.try_emplace(
          std::string(word), static_cast<std::uint32_t>(background_.size()));
      if (is_new) background_.push_back(0);
      ++background_[entry->second];
    });
  }
  const double total =
      std::accumulate(background_.begin(), background_.end(), 0.0);
  // A query counts once for each click, as each click is a query that a user
  // typed.
  for (double& count : background_) count /= total;
}

std::optional<std::uint32_t> TranslationVocabulary::Find(
    std::string_view word) const {
  const auto found = number_of_.find(ToAbsl(word));
  if (found == number_of_.end()) return std::nullopt;
  return found->second;
}

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
    // P_mx (translation_rankers.h): beta of the word's share remains with the
    // word itself, the rest is divided among its translations.
    Add(word, smoothing_.self * share);
    AddTranslations(word, (1 - smoothing_.self) * share);
  });
  // log P_s - log(alpha P(q|C)) = log(1 + (1 - alpha) / alpha x P_mx / P(q|C)).
  const double odds = (1 - smoothing_.background) / smoothing_.background;
  for (const std::uint32_t word : found_) {
    const double weight =
        std::log1p(odds * probability_[word] / vocabulary_.Background(word));
    probability_[word] = 0;
    // The translations of a title have a long tail of words that hardly change
    // its score; without this bound they would fill the lists.
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
  // A word that no title of the log has translates to itself, so that it keeps
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
