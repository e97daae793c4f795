// What the input of the towers is made of (FeatureSpec).
#ifndef SEMRANK_MODEL_TRAIN_OPTIONS_FEATURE_OPTIONS_H_
#define SEMRANK_MODEL_TRAIN_OPTIONS_FEATURE_OPTIONS_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "model/text/featurizer.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {

class CommandLine;

struct FeatureOptions {
  v1::FeatureKind kind = v1::FEATURE_KIND_LETTERS;
  int ngram_length = 3;
  // 0 = the n-grams of the training texts are listed.
  int hash_buckets = 0;
  // The most frequent words of the training texts; 0 = all.
  int max_words = 40000;
  // The same for bigrams.
  int max_bigrams = 50'000;
  // Bigrams of fewer training pairs are dropped.
  int min_bigram_count = 2;
  // The lexical part beside the towers' vectors: auto, none or its weight.
  std::string lexical = "none";
  // What that stands for: the weight, 0 for none; nothing = it is fitted.
  std::optional<double> lexical_weight = 0;
  // As that of SsiOptions, from where ResolveOptions takes it.
  int unknown_word_buckets = 0;
  // The vocabularies of another model; null = chosen from the training texts.
  std::shared_ptr<const Featurizer> given = nullptr;
};

void AddFeatureOptions(CommandLine& command_line, FeatureOptions& options);

// FlagError as ResolveOptions.
absl::Status Resolve(FeatureOptions& options);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_OPTIONS_FEATURE_OPTIONS_H_
