#include "model/train/data/training_features.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "model/base/status_macros.h"
#include "model/format/model_config.h"
#include "model/nn/lexical_part.h"
#include "model/train/start/vocabulary_union.h"

namespace semrank {

// Features are chosen from the training texts alone: with words of validation
// texts the model would know something of what it is measured on.

namespace {

void AddBigrams(const TextInterner& texts, std::span<const TextPair> pairs,
                const UnaccentedQueries& unaccented,
                VocabularyBuilder& builder) {
  std::vector<std::int64_t> occurrences(texts.size());
  for (const TextPair& pair : pairs) {
    // Bigrams are counted by occurrences in pairs, as when they are streamed,
    // though each distinct text is read once.
    ++occurrences[pair.query];
    ++occurrences[pair.title];
    const auto plain = unaccented.find(pair.query);
    if (plain != unaccented.end()) ++occurrences[plain->second];
  }
  for (std::size_t id = 0; id < occurrences.size(); ++id) {
    if (occurrences[id] == 0) continue;
    builder.AddBigrams(texts.text(static_cast<TextId>(id)), occurrences[id]);
  }
}

// The vocabularies of the texts that were counted.
absl::StatusOr<Featurizer> FeaturesOfTexts(const FeatureOptions& options,
                                           const VocabularyBuilder& builder) {
  std::optional<NgramVocabulary> ngrams;
  if (HasLetters(options.kind)) {
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
  // All n-grams are listed, but only the most frequent words: the number of
  // words grows with the log.
  if (HasWords(options.kind)) {
    SEMRANK_ASSIGN_OR_RETURN(words, WordVocabulary::FromList(builder.Words(
                                        options.max_words, /*min_count=*/1)));
    // Only SSI has such buckets; otherwise their number is 0.
    words->HashUnknownWords(options.unknown_word_buckets);
  }
  std::optional<WordVocabulary> bigrams;
  if (HasBigrams(options.kind)) {
    std::vector<std::string> listed =
        builder.Bigrams(options.max_bigrams, options.min_bigram_count);
    // Few or short texts may repeat no bigram; the other features are enough
    // then.
    if (!listed.empty() || options.kind == v1::FEATURE_KIND_BIGRAMS) {
      SEMRANK_ASSIGN_OR_RETURN(
          bigrams, WordVocabulary::FromBigramList(std::move(listed)));
    }
  }
  return Featurizer::Create(std::move(ngrams), std::move(words),
                            std::move(bigrams));
}

}  // namespace

absl::StatusOr<Featurizer> ChooseFeatures(const FeatureOptions& options,
                                          const TextInterner& texts,
                                          std::span<const TextId> ids,
                                          std::span<const TextPair> pairs,
                                          int num_paddings,
                                          const UnaccentedQueries& unaccented) {
  VocabularyBuilder builder;
  for (const TextId id : ids) {
    builder.AddText(texts.text(id));
    // The convolution sees the padding word at both ends of each text (CLSM,
    // eq. 1), so its n-grams must be in the vocabulary.
    for (int i = 0; i < num_paddings; ++i) builder.AddText(kPaddingWord);
  }
  if (HasBigrams(options.kind)) AddBigrams(texts, pairs, unaccented, builder);
  return MakeFeaturizer(options, builder);
}

absl::StatusOr<Featurizer> MakeFeaturizer(const FeatureOptions& options,
                                          const VocabularyBuilder& builder) {
  // --init_from: other features would give the weights another meaning.
  if (options.given == nullptr) return FeaturesOfTexts(options, builder);
  if (!options.grows_given) return *options.given;
  SEMRANK_ASSIGN_OR_RETURN(const Featurizer run,
                           FeaturesOfTexts(options, builder));
  return UniteFeatures(*options.given, run);
}

std::vector<float> LexicalIdfOf(const FeatureOptions& features,
                                const TextInterner& texts,
                                std::span<const TextId> ids,
                                std::span<const TextId> queries,
                                std::int64_t query_count) {
  if (features.lexical_weight == 0) return {};
  const LexicalOptions options;
  // Length and number of buckets are in range.
  const NgramVocabulary ngrams =
      NgramVocabulary::Hashed(options.ngram_length, options.num_buckets)
          .value();
  // df_g of MATHEMATICS.md, "The lexical part": the number of texts with a
  // trigram in the bucket.
  std::vector<std::int64_t> frequencies(options.num_buckets);
  std::vector<std::uint32_t> buckets;
  const auto count = [&](TextId id, std::int64_t times) {
    buckets.clear();
    ngrams.AppendIndices(texts.text(id), buckets);
    std::sort(buckets.begin(), buckets.end());
    // df counts texts: a bucket counts once for each, however often it occurs.
    buckets.erase(std::unique(buckets.begin(), buckets.end()), buckets.end());
    for (const std::uint32_t bucket : buckets) frequencies[bucket] += times;
  };
  for (const TextId id : ids) count(id, 1);
  auto num_texts = std::ssize(ids);
  // Each query counts query_count times in all; the loop above has counted
  // it once.
  if (query_count > 1) {
    for (const TextId id : queries) count(id, query_count - 1);
    num_texts += std::ssize(queries) * (query_count - 1);
  }
  // A bucket that no text has gets the highest idf: queries may have it.
  std::vector<float> idf;
  idf.reserve(frequencies.size());
  for (const std::int64_t frequency : frequencies) {
    idf.push_back(LexicalIdf(num_texts, frequency));
  }
  return idf;
}

TextForm TextFormOf(const TowerOptions& options) {
  return options.kind == v1::TOWER_KIND_CLSM ? TextForm::kWordSequences
                                             : TextForm::kBags;
}

// Buckets of unknown words are indices of the model, not features of the data.
int NumListedFeatures(const Featurizer& featurizer) {
  const auto& words = featurizer.words();
  const int num_unknown =
      words ? words->size() - static_cast<int>(words->words().size()) : 0;
  return featurizer.num_features() - num_unknown;
}

v1::FeatureSpec DescribeFeatures(const Featurizer& featurizer) {
  const auto& ngrams = featurizer.ngrams();
  const auto& words = featurizer.words();
  const auto& bigrams = featurizer.bigrams();
  v1::FeatureSpec spec;
  spec.set_normalizer_version(
      static_cast<std::uint32_t>(featurizer.normalizer_version()));
  spec.set_kind(
      // The kinds are bit masks: each combination has the sum of its parts as
      // its number.
      static_cast<v1::FeatureKind>((ngrams ? v1::FEATURE_KIND_LETTERS : 0) |
                                   (words ? v1::FEATURE_KIND_WORDS : 0) |
                                   (bigrams ? v1::FEATURE_KIND_BIGRAMS : 0)));
  if (ngrams) {
    spec.set_ngram_length(ngrams->ngram_length());
    spec.set_num_ngrams(ngrams->size());
    if (ngrams->hashed()) spec.set_hash_buckets(ngrams->size());
  }
  if (words) spec.set_num_words(words->size());
  if (bigrams) spec.set_num_bigrams(bigrams->size());
  spec.set_weighting(v1::FEATURE_WEIGHTING_COUNT);
  return spec;
}

}  // namespace semrank
