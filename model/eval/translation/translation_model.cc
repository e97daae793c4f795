#include "model/eval/translation/translation_model.h"

#include <string_view>
#include <utility>

#include "model/base/status_macros.h"
#include "model/text/normalizer.h"

namespace semrank {
namespace {

// Numbers words in the order of their first appearance. Queries and titles
// share the numbers, so that a word can translate to itself.
class TextNumberer {
 public:
  TranslatedText NumbersOf(const ClickPair& pair) {
    TranslatedText text;
    text.source = NumbersOf(pair.title);
    text.target = NumbersOf(pair.query);
    text.weight = static_cast<double>(pair.clicks);
    // Words of titles have a count too, which may be 0.
    query_counts_.resize(words_.size());
    for (const std::uint32_t word : text.target) {
      query_counts_[word] += text.weight;
    }
    return text;
  }

  std::vector<std::string> words_;
  absl::flat_hash_map<std::string, std::uint32_t> number_of_;
  std::vector<double> query_counts_;

 private:
  std::vector<std::uint32_t> NumbersOf(std::string_view text) {
    std::vector<std::uint32_t> numbers;
    ForEachWord(text, [&](std::string_view word) {
      const auto [entry, is_new] = number_of_.try_emplace(
          std::string(word), static_cast<std::uint32_t>(words_.size()));
      if (is_new) words_.push_back(entry->first);
      numbers.push_back(entry->second);
    });
    return numbers;
  }
};

}  // namespace

absl::StatusOr<std::shared_ptr<const TranslationModel>> LearnTranslations(
    std::span<const ClickPair> pairs) {
  if (pairs.empty()) {
    return absl::InvalidArgumentError(
        "translations cannot be learned without a clicked pair");
  }
  TextNumberer numberer;
  // Both directions are learned: t(q|w) is what rankers read, and the word
  // alignments of phrases need t(w|q) too.
  std::vector<TranslatedText> texts, reversed;
  for (const ClickPair& pair : pairs) {
    texts.push_back(numberer.NumbersOf(pair));
    reversed.push_back(
        {texts.back().target, texts.back().source, texts.back().weight});
  }
  const auto num_words = static_cast<std::uint32_t>(numberer.words_.size());
  SEMRANK_ASSIGN_OR_RETURN(
      WordTranslations forward,
      WordTranslations::Learn(texts, num_words, kTranslationIterations));
  SEMRANK_ASSIGN_OR_RETURN(
      const WordTranslations backward,
      WordTranslations::Learn(reversed, num_words, kTranslationIterations));
  PhraseTranslations phrases(texts, numberer.words_, forward, backward);
  return std::make_shared<const TranslationModel>(TranslationModel{
      std::move(numberer.words_), std::move(numberer.number_of_),
      std::move(numberer.query_counts_), std::move(forward),
      std::move(phrases)});
}

absl::StatusOr<std::shared_ptr<const TranslationModel>> LearnTranslations(
    const std::vector<std::string>& files, BadLines& bad_lines,
    int normalizer_version) {
  PairReader reader(files, PairLines::kClicked, bad_lines,
                    {.normalizer_version = normalizer_version});
  std::vector<ClickPair> pairs;
  while (true) {
    ClickPair pair;
    SEMRANK_ASSIGN_OR_RETURN(const bool more, reader.Next(pair));
    if (!more) break;
    pairs.push_back(std::move(pair));
  }
  return LearnTranslations(pairs);
}

}  // namespace semrank
