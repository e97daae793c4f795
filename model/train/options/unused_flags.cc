#include "model/train/options/unused_flags.h"

#include "absl/strings/str_cat.h"
#include "model/format/model_config.h"

namespace semrank {
namespace {

// The reasons are those of resolved options, so a default that a tower or
// preset has chosen counts as much as a flag.

bool IsSsi(const TrainOptions& options) {
  return options.tower.kind == v1::TOWER_KIND_SSI;
}

std::string ByTower(const TrainOptions& options) {
  return "tower=" + NameOf(options.tower.kind, kTowerNames);
}

std::string ByFeatures(const TrainOptions& options) {
  return "features=" + NameOf(options.features.kind, kFeatureNames);
}

std::string BySsi(const TrainOptions& options) {
  return "ssi=" + NameOf(options.ssi.variant, kSsiVariantNames);
}

// Only lists of events have a day.
std::string WhatMakesJudgeDaysUnused(const TrainOptions& options) {
  if (options.data.event_paths.empty()) {
    return options.data.train_files.empty() ? "docs" : "train";
  }
  return options.data.judge_fraction > 0 ? "" : "judge_fraction=0";
}

// The titles of the catalogue count in the lexical part alone.
std::string WhatMakesDocsUnused(const TrainOptions& options) {
  const bool unused =
      HasClicks(options.data) && options.features.lexical_weight == 0;
  if (!unused) return "";
  if (IsSsi(options)) return ByTower(options);
  const InitialModelOptions& start = options.initial_model;
  // A run that begins from a served model without a lexical part has none
  // either (ContinueSettings); a general model does not decide it.
  const bool start_decides =
      !start.version_dir.empty() && !start.has_lexical && !start.is_general;
  return start_decides ? absl::StrCat("init_from=", start.version_dir,
                                      ", whose model has no lexical part")
                       : "lexical=none";
}

// `flag` is one of those of SSI. Another tower makes all of them meaningless;
// only then is there more to ask of each.
std::string WhatMakesSsiFlagUnused(std::string_view flag,
                                   const TrainOptions& options) {
  if (!IsSsi(options)) return ByTower(options);
  if (flag != "ssi_unknown_word_buckets") return "";
  if (HasBigrams(options.features.kind)) return ByFeatures(options);
  // Unknown words have no vectors; only the identity matches them.
  return MatchesUnknownWords(options.ssi.variant,
                             options.ssi.pair_hash_buckets > 0)
             ? ""
             : BySsi(options);
}

}  // namespace

std::string WhatMakesUnused(std::string_view flag,
                            const TrainOptions& options) {
  const v1::FeatureKind features = options.features.kind;
  const auto unless = [&](bool used, auto reason) {
    return used ? "" : reason(options);
  };
  if (flag == "biases" || flag == "gamma" || flag == "shared_towers") {
    return unless(!IsSsi(options), ByTower);
  }
  if (flag == "hidden") {
    return unless(
        !IsSsi(options) && options.tower.kind != v1::TOWER_KIND_LINEAR,
        ByTower);
  }
  // Variants without U and V have no rank.
  if (flag == "embedding_dim") {
    return unless(!IsSsi(options) || HasSsiVectors(options.ssi.variant), BySsi);
  }
  if (flag == "ngram_length") return unless(HasLetters(features), ByFeatures);
  if (flag == "max_words") return unless(HasWords(features), ByFeatures);
  if (flag == "max_bigrams" || flag == "min_bigram_count") {
    return unless(HasBigrams(features), ByFeatures);
  }
  // Without a measure each epoch is better than the one before.
  if (flag == "patience") {
    return options.early_stopping == EpochMeasure::kLast ? "early_stopping=last"
                                                         : "";
  }
  if (flag == "max_position_weight") {
    return CorrectsPositions(options.loss) ? "" : "position_bias=none";
  }
  if (flag == "judge_days") return WhatMakesJudgeDaysUnused(options);
  if (flag == "docs") return WhatMakesDocsUnused(options);
  if (flag == "margin" || flag == "ssi" || flag.starts_with("ssi_")) {
    return WhatMakesSsiFlagUnused(flag, options);
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
