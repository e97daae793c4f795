#include "model/train/data/training_features.h"

#include <optional>
#include <utility>

#include "model/base/status_macros.h"
#include "model/text/normalizer.h"

namespace semrank {

absl::StatusOr<Featurizer> ChooseFeatures(const FeatureOptions& options,
                                          const TextInterner& texts,
                                          std::span<const TextId> ids,
                                          int num_paddings) {
  VocabularyBuilder builder;
  for (const TextId id : ids) {
    builder.AddText(texts.text(id));
    for (int i = 0; i < num_paddings; ++i) builder.AddText(kPaddingWord);
  }
  return MakeFeaturizer(options, builder);
}

absl::StatusOr<Featurizer> MakeFeaturizer(const FeatureOptions& options,
                                          const VocabularyBuilder& builder) {
  if (options.given != nullptr) return *options.given;
  std::optional<NgramVocabulary> ngrams;
  if (options.kind != v1::FEATURE_KIND_WORDS) {
    SEMRANK_ASSIGN_OR_RETURN(
        ngrams, options.hash_buckets > 0
                    ? NgramVocabulary::Hashed(options.ngram_length,
                                              options.hash_buckets)
                    : NgramVocabulary::FromList(
                          options.ngram_length,
                          builder.LetterNgrams(options.ngram_length,
                                               /*max_size=*/0,
                                               /*min_count=*/1)));
  }
  std::optional<WordVocabulary> words;
  if (options.kind != v1::FEATURE_KIND_LETTERS) {
    SEMRANK_ASSIGN_OR_RETURN(words, WordVocabulary::FromList(builder.Words(
                                        options.max_words, /*min_count=*/1)));
  }
  return Featurizer::Create(std::move(ngrams), std::move(words));
}

TextForm TextFormOf(const TowerOptions& options) {
  return options.kind == v1::TOWER_KIND_CLSM ? TextForm::kWordSequences
                                             : TextForm::kBags;
}

v1::FeatureSpec DescribeFeatures(const Featurizer& featurizer) {
  const auto& ngrams = featurizer.ngrams();
  const auto& words = featurizer.words();
  v1::FeatureSpec spec;
  spec.set_normalizer_version(kNormalizerVersion);
  spec.set_kind(!words    ? v1::FEATURE_KIND_LETTERS
                : !ngrams ? v1::FEATURE_KIND_WORDS
                          : v1::FEATURE_KIND_LETTERS_AND_WORDS);
  if (ngrams) {
    spec.set_ngram_length(ngrams->ngram_length());
    spec.set_num_ngrams(ngrams->size());
    if (ngrams->hashed()) spec.set_hash_buckets(ngrams->size());
  }
  if (words) spec.set_num_words(words->size());
  spec.set_weighting(v1::FEATURE_WEIGHTING_COUNT);
  return spec;
}

}  // namespace semrank
