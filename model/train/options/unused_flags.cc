#include "model/train/options/unused_flags.h"

#include "absl/strings/str_cat.h"
#include "model/format/model_config.h"

namespace semrank {

// The reasons are those of resolved options, so a default that a tower or
// preset has chosen counts as much as a flag.

std::string WhatMakesUnused(std::string_view flag,
                            const TrainOptions& options) {
  const v1::TowerKind tower = options.tower.kind;
  const v1::FeatureKind features = options.features.kind;
  const bool is_ssi = tower == v1::TOWER_KIND_SSI;
  const std::string by_tower = "tower=" + NameOf(tower, kTowerNames);
  const std::string by_features = "features=" + NameOf(features, kFeatureNames);
  const std::string by_ssi =
      "ssi=" + NameOf(options.ssi.variant, kSsiVariantNames);

  if (flag == "biases" || flag == "gamma" || flag == "shared_towers") {
    return is_ssi ? by_tower : "";
  }
  // Without a measure each epoch is better than the one before.
  if (flag == "patience") {
    return options.early_stopping == EpochMeasure::kLast ? "early_stopping=last"
                                                         : "";
  }
  // Only lists of events have a day.
  if (flag == "judge_days") {
    if (options.data.event_paths.empty()) {
      return options.data.train_files.empty() ? "docs" : "train";
    }
    return options.publish == PublishMode::kIfBetter ? "" : "publish=always";
  }
  // The titles of the catalogue count in the lexical part alone.
  if (flag == "docs") {
    const bool unused =
        HasClicks(options.data) && options.features.lexical_weight == 0;
    if (!unused) return "";
    if (is_ssi) return by_tower;
    const InitialModelOptions& start = options.initial_model;
    // A run that begins from a served model without a lexical part has none
    // either (ContinueSettings); a general model does not decide it.
    const bool start_decides =
        !start.version_dir.empty() && !start.has_lexical && !start.is_general;
    return start_decides ? absl::StrCat("init_from=", start.version_dir,
                                        ", whose model has no lexical part")
                         : "lexical=none";
  }
  if (flag == "max_position_weight") {
    return CorrectsPositions(options.loss) ? "" : "position_bias=none";
  }
  if (flag == "hidden") {
    return is_ssi || tower == v1::TOWER_KIND_LINEAR ? by_tower : "";
  }
  // Variants without U and V have no rank.
  if (flag == "embedding_dim") {
    return is_ssi && !HasSsiVectors(options.ssi.variant) ? by_ssi : "";
  }
  if (flag == "ngram_length") return HasLetters(features) ? "" : by_features;
  if (flag == "max_words") return HasWords(features) ? "" : by_features;
  if (flag == "max_bigrams" || flag == "min_bigram_count") {
    return HasBigrams(features) ? "" : by_features;
  }
  // Another tower makes all flags of SSI meaningless; only then is there more
  // to ask of each.
  if (flag == "margin" || flag == "ssi" || flag.starts_with("ssi_")) {
    if (!is_ssi) return by_tower;
  }
  if (flag == "ssi_unknown_word_buckets") {
    if (HasBigrams(features)) return by_features;
    // Unknown words have no vectors; only the identity matches them.
    if (!MatchesUnknownWords(options.ssi.variant,
                             options.ssi.pair_hash_buckets > 0)) {
      return by_ssi;
    }
  }
  return "";
}

std::vector<std::string> DescribeUnusedFlags(
    const TrainOptions& options, const std::vector<FlagValue>& flags) {
  std::vector<std::string> lines;
  for (const FlagValue& flag : flags) {
    const std::string reason = WhatMakesUnused(flag.name, options);
    if (reason.empty()) continue;
    lines.push_back(absl::StrCat("--", flag.name, "=", flag.value,
                                 " has no effect with --", reason));
  }
  return lines;
}

}  // namespace semrank
