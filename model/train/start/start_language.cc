#include "model/train/start/start_language.h"

#include "absl/strings/str_format.h"
#include "model/base/strings.h"
#include "model/text/known_features.h"

namespace semrank {
namespace {

double Share(std::int64_t part, std::int64_t all) {
  // A text of which nothing can be counted is no sign of another language.
  return all == 0 ? 1 : static_cast<double>(part) / static_cast<double>(all);
}

}  // namespace

double KnownShare::OfNgrams() const {
  return Share(num_known_ngrams, num_ngrams);
}

double KnownShare::OfWords() const { return Share(num_known_words, num_words); }

StartLanguage::StartLanguage(const Featurizer& featurizer,
                             const std::vector<ClickPair>& kept)
    : featurizer_(featurizer) {
  const auto insert = [&](std::string_view word) {
    words_.emplace(ToAbsl(word));
  };
  for (const ClickPair& pair : kept) {
    ForEachWord(pair.query, insert);
    ForEachWord(pair.title, insert);
  }
  // A model of letters alone lists no words; its kept pairs are all that it
  // knows of them.
  if (!featurizer.words().has_value()) return;
  for (const std::string& word : featurizer.words()->words()) insert(word);
}

void StartLanguage::Add(std::string_view normalized) {
  const KnownFeatures known = CountKnownFeatures(featurizer_, normalized);
  // The featurizer counts its own words as well, but not those of kept pairs,
  // so known words are counted here.
  share_.num_ngrams += known.num_ngrams;
  share_.num_known_ngrams += known.num_known_ngrams;
  share_.num_words += known.num_words;
  ForEachWord(normalized, [&](std::string_view word) {
    share_.num_known_words += words_.contains(ToAbsl(word)) ? 1 : 0;
  });
}

absl::Status StartLanguage::Check(std::string_view start) const {
  const auto& ngrams = featurizer_.ngrams();
  // Letters find another script: Cyrillic and Latin share hardly any trigram.
  // They cannot separate languages of one script, so words do, unless many
  // n-grams are known too, as in the next night of one shop.
  const bool is_foreign_script = ngrams.has_value() &&
                                 ngrams->size() >= kDecisiveNgrams &&
                                 share_.OfNgrams() < 0.5;
  const auto& words = featurizer_.words();
  const bool lists_language =
      words.has_value() && words->words().size() >= kWordsOfLanguage;
  const bool is_foreign_language =
      std::ssize(words_) >= kDecisiveWords && share_.OfWords() < 0.5 &&
      (lists_language || share_.OfNgrams() < kMinNgramsOfLanguage);
  if (!is_foreign_script && !is_foreign_language) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "the texts of --train are of another language than %s: it knows %.0f %% "
      "of their words and %.0f %% of their letter n-grams. Train a model of "
      "its own, without --init_from",
      start, 100 * share_.OfWords(), 100 * share_.OfNgrams()));
}

}  // namespace semrank
