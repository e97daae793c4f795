// Values of flags by name, and back.
//
//   Errors   FlagError with the names that there are.
#ifndef SEMRANK_MODEL_TRAIN_OPTIONS_OPTION_NAMES_H_
#define SEMRANK_MODEL_TRAIN_OPTIONS_OPTION_NAMES_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/cli/settable_flag.h"
#include "model/train/options/train_options.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {

absl::Status ParseOption(std::string_view name, v1::TowerKind& kind);
absl::Status ParseOption(std::string_view name, v1::SsiVariant& variant);
absl::Status ParseOption(std::string_view name, v1::FeatureKind& kind);
absl::Status ParseOption(std::string_view name, v1::NegativeSampling& sampling);
absl::Status ParseOption(std::string_view name, v1::Optimizer& optimizer);
absl::Status ParseOption(std::string_view name, v1::Activation& activation);
absl::Status ParseOption(std::string_view name, v1::LearningRateDecay& decay);
absl::Status ParseOption(std::string_view name, EpochMeasure& measure);
absl::Status ParseOption(std::string_view name, v1::ClickUse& clicks);

std::string OptionName(v1::TowerKind kind);
std::string OptionName(v1::SsiVariant variant);
std::string OptionName(v1::FeatureKind kind);
std::string OptionName(v1::Activation activation);

// Nothing happens when the flag was not set.
template <typename T>
absl::Status ReadName(const Settable<std::string>& flag, T& value) {
  return flag.is_set ? ParseOption(flag.value, value) : absl::OkStatus();
}

// "300,300"; empty text = no layer.
absl::StatusOr<std::vector<int>> ParseWidths(std::string_view text);

// "a.tsv,b.tsv.gz"; empty text = no file.
std::vector<std::string> SplitFiles(std::string_view text);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_OPTIONS_OPTION_NAMES_H_
