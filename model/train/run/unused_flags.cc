#include "model/train/run/unused_flags.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "absl/strings/str_format.h"
#include "model/format/model_config.h"
#include "model/train/options/option_names.h"

namespace semrank {
namespace {

using Options = TrainOptions;

// The flag that decides, as in --tower=linear.
std::string Tower(const Options& options) {
  return "tower=" + NameOf(options.tower.kind, kTowerNames);
}

std::string Features(const Options& options) {
  return "features=" + NameOf(options.features.kind, kFeatureNames);
}

std::string Ssi(const Options& options) {
  return "ssi=" + NameOf(options.ssi.variant, kSsiVariantNames);
}

bool IsSsi(const Options& options) {
  return options.tower.kind == v1::TOWER_KIND_SSI;
}

bool IsNotSsi(const Options& options) { return !IsSsi(options); }

bool HasOneLayer(const Options& options) {
  return IsSsi(options) || options.tower.kind == v1::TOWER_KIND_LINEAR;
}

bool HasNoVectors(const Options& options) {
  return IsSsi(options) && !HasSsiVectors(options.ssi.variant);
}

bool DropsUnknownWords(const Options& options) {
  return !IsSsi(options) || HasBigrams(options.features.kind) ||
         !MatchesUnknownWords(options.ssi.variant,
                              options.ssi.pair_hash_buckets > 0);
}

std::string WhatDropsThem(const Options& options) {
  if (!IsSsi(options)) return Tower(options);
  return HasBigrams(options.features.kind) ? Features(options) : Ssi(options);
}

bool HasNoLetters(const Options& options) {
  return !HasLetters(options.features.kind);
}

bool HasNoWords(const Options& options) {
  return !HasWords(options.features.kind);
}

bool HasNoBigrams(const Options& options) {
  return !HasBigrams(options.features.kind);
}

struct Rule {
  std::string_view flag;
  bool (*is_unused)(const Options& options);
  std::string (*reason)(const Options& options);
};

// A flag is unused if another one makes it meaningless; giving it is remarked
// on and no error.
constexpr Rule kRules[] = {
    {"biases", IsSsi, Tower},
    {"embedding_dim", HasNoVectors, Ssi},
    {"gamma", IsSsi, Tower},
    {"hidden", HasOneLayer, Tower},
    {"margin", IsNotSsi, Tower},
    {"max_bigrams", HasNoBigrams, Features},
    {"max_words", HasNoWords, Features},
    {"min_bigram_count", HasNoBigrams, Features},
    {"ngram_length", HasNoLetters, Features},
    {"shared_towers", IsSsi, Tower},
    {"ssi", IsNotSsi, Tower},
    {"ssi_correlated_pairing", IsNotSsi, Tower},
    {"ssi_correlated_top_k", IsNotSsi, Tower},
    {"ssi_dense_words", IsNotSsi, Tower},
    {"ssi_frequent_words", IsNotSsi, Tower},
    {"ssi_init_scale", IsNotSsi, Tower},
    {"ssi_mix_parts", IsNotSsi, Tower},
    {"ssi_pair_hash_buckets", IsNotSsi, Tower},
    {"ssi_unknown_word_buckets", DropsUnknownWords, WhatDropsThem},
};

}  // namespace

std::vector<std::string> DescribeUnusedFlags(
    const TrainOptions& options, const std::vector<FlagValue>& flags) {
  std::vector<std::string> lines;
  for (const FlagValue& flag : flags) {
    const auto rule = std::ranges::find(kRules, flag.name, &Rule::flag);
    if (rule == std::end(kRules) || !rule->is_unused(options)) continue;
    lines.push_back(absl::StrFormat("--%s=%s has no effect with --%s",
                                    flag.name, flag.value,
                                    rule->reason(options)));
  }
  return lines;
}

}  // namespace semrank
