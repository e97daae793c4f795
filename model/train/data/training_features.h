// Chooses the vocabulary of a model out of its training texts.
//
//   Errors   as Create of the vocabularies, for texts without any feature.
#ifndef SEMRANK_MODEL_TRAIN_DATA_TRAINING_FEATURES_H_
#define SEMRANK_MODEL_TRAIN_DATA_TRAINING_FEATURES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "model/data/text_pairs.h"
#include "model/data/text_table.h"
#include "model/text/featurizer.h"
#include "model/text/vocabulary_builder.h"
#include "model/train/data/unaccented_queries.h"
#include "model/train/options/train_options.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {

// The letter n-grams are all that occur in the texts `ids`, or hashed. The
// words are the most frequent, by the number of times they stand in these
// texts; each distinct text counts once. The bigrams are the most frequent in
// the texts of `pairs`, each of which counts as often as it occurs, because a
// title's own bigrams learn from all its pairs; there are none if no bigram
// repeats. The pairs of `unaccented` queries count in both forms. With CLSM
// each text has `num_paddings` times the word kPaddingWord.
absl::StatusOr<Featurizer> ChooseFeatures(
    const FeatureOptions& options, const TextInterner& texts,
    std::span<const TextId> ids, std::span<const TextPair> pairs,
    int num_paddings, const UnaccentedQueries& unaccented = {});

// idf of the kMaxLexicalBuckets hashed letter trigrams over the distinct texts
// `ids` (lexical_part.h), also for a weight that is yet to be fitted; empty if
// the weight is 0. Queries count too: what many of them have says little about
// what they look for, though hardly a title may have it. Each of `queries`,
// which are among `ids`, counts `query_count` times: a catalogue has far more
// titles than a small log has queries.
std::vector<float> LexicalIdfOf(const FeatureOptions& options,
                                const TextInterner& texts,
                                std::span<const TextId> ids,
                                std::span<const TextId> queries = {},
                                std::int64_t query_count = 1);

// The features of texts that the towers read.
TextForm TextFormOf(const TowerOptions& options);

// As ChooseFeatures, for texts that the caller has counted.
absl::StatusOr<Featurizer> MakeFeaturizer(const FeatureOptions& options,
                                          const VocabularyBuilder& builder);

// Number of features without the indices of unknown words.
int NumListedFeatures(const Featurizer& featurizer);

// The features in config.json, for a tower that counts them.
v1::FeatureSpec DescribeFeatures(const Featurizer& featurizer);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_DATA_TRAINING_FEATURES_H_
