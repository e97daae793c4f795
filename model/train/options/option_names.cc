#include "model/train/options/option_names.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "model/base/strings.h"
#include "model/cli/program.h"

namespace semrank {
namespace {

template <typename T>
struct Named {
  std::string_view name;
  T value;
};

constexpr Named<v1::TowerKind> kTowers[] = {{"dssm", v1::TOWER_KIND_DSSM},
                                            {"linear", v1::TOWER_KIND_LINEAR},
                                            {"clsm", v1::TOWER_KIND_CLSM},
                                            {"ssi", v1::TOWER_KIND_SSI}};
constexpr Named<v1::SsiVariant> kSsiVariants[] = {
    {"low_rank", v1::SSI_VARIANT_LOW_RANK},
    {"symmetric", v1::SSI_VARIANT_SYMMETRIC},
    {"diagonal", v1::SSI_VARIANT_DIAGONAL},
    {"full", v1::SSI_VARIANT_FULL},
    {"low_rank_no_identity", v1::SSI_VARIANT_LOW_RANK_NO_IDENTITY}};
constexpr Named<v1::FeatureKind> kFeatures[] = {
    {"letters", v1::FEATURE_KIND_LETTERS},
    {"words", v1::FEATURE_KIND_WORDS},
    {"letters+words", v1::FEATURE_KIND_LETTERS_AND_WORDS}};
constexpr Named<v1::NegativeSampling> kSamplings[] = {
    {"uniform", v1::NEGATIVE_SAMPLING_UNIFORM},
    {"in_batch", v1::NEGATIVE_SAMPLING_IN_BATCH},
    {"shown", v1::NEGATIVE_SAMPLING_SHOWN_NOT_CLICKED}};
constexpr Named<v1::Optimizer> kOptimizers[] = {
    {"sgd", v1::OPTIMIZER_SGD},
    {"adagrad", v1::OPTIMIZER_ADAGRAD},
    {"adam", v1::OPTIMIZER_ADAM}};
constexpr Named<v1::LearningRateDecay> kDecays[] = {
    {"none", v1::LEARNING_RATE_DECAY_NONE},
    {"linear", v1::LEARNING_RATE_DECAY_LINEAR}};
constexpr Named<EpochMeasure> kMeasures[] = {{"auto", EpochMeasure::kAuto},
                                             {"ndcg", EpochMeasure::kNdcg},
                                             {"loss", EpochMeasure::kLoss}};
constexpr Named<v1::Activation> kActivations[] = {
    {"linear", v1::ACTIVATION_IDENTITY}, {"tanh", v1::ACTIVATION_TANH}};

constexpr Named<v1::ClickUse> kClickUses[] = {{"ignore", v1::CLICK_USE_IGNORE},
                                              {"weight", v1::CLICK_USE_WEIGHT},
                                              {"repeat", v1::CLICK_USE_REPEAT}};

template <typename T, std::size_t size>
absl::Status Find(std::string_view flag, std::string_view name,
                  const Named<T> (&table)[size], T& value) {
  std::string names;
  for (const Named<T>& entry : table) {
    if (entry.name == name) {
      value = entry.value;
      return absl::OkStatus();
    }
    absl::StrAppendFormat(&names, "%s%s", names.empty() ? "" : ", ",
                          entry.name);
  }
  return FlagError(flag, name, absl::StrFormat("must be one of %s", names));
}

template <typename T, std::size_t size>
std::string NameOf(T value, const Named<T> (&table)[size]) {
  const auto entry = std::ranges::find(table, value, &Named<T>::value);
  return entry == std::end(table) ? "unknown" : std::string(entry->name);
}

}  // namespace

absl::Status ParseOption(std::string_view name, v1::TowerKind& kind) {
  return Find("tower", name, kTowers, kind);
}

absl::Status ParseOption(std::string_view name, v1::SsiVariant& variant) {
  return Find("ssi", name, kSsiVariants, variant);
}

absl::Status ParseOption(std::string_view name, v1::FeatureKind& kind) {
  return Find("features", name, kFeatures, kind);
}

absl::Status ParseOption(std::string_view name,
                         v1::NegativeSampling& sampling) {
  return Find("negative_sampling", name, kSamplings, sampling);
}

absl::Status ParseOption(std::string_view name, v1::Optimizer& optimizer) {
  return Find("optimizer", name, kOptimizers, optimizer);
}

absl::Status ParseOption(std::string_view name, v1::Activation& activation) {
  return Find("activation", name, kActivations, activation);
}

absl::Status ParseOption(std::string_view name, v1::LearningRateDecay& decay) {
  return Find("learning_rate_decay", name, kDecays, decay);
}

absl::Status ParseOption(std::string_view name, EpochMeasure& measure) {
  return Find("early_stopping", name, kMeasures, measure);
}

absl::Status ParseOption(std::string_view name, v1::ClickUse& clicks) {
  return Find("clicks", name, kClickUses, clicks);
}

std::string OptionName(v1::TowerKind kind) { return NameOf(kind, kTowers); }

std::string OptionName(v1::SsiVariant variant) {
  return NameOf(variant, kSsiVariants);
}

std::string OptionName(v1::FeatureKind kind) { return NameOf(kind, kFeatures); }

std::string OptionName(v1::Activation activation) {
  return NameOf(activation, kActivations);
}

absl::StatusOr<std::vector<int>> ParseWidths(std::string_view text) {
  std::vector<int> widths;
  if (text.empty()) return widths;
  for (const absl::string_view part : absl::StrSplit(ToAbsl(text), ',')) {
    int width = 0;
    if (!absl::SimpleAtoi(part, &width)) {
      return FlagError("hidden", text,
                       "must be whole numbers with commas between them");
    }
    widths.push_back(width);
  }
  return widths;
}

std::vector<std::string> SplitFiles(std::string_view text) {
  return absl::StrSplit(ToAbsl(text), ',', absl::SkipEmpty());
}

}  // namespace semrank
