#include "model/train/report/run_progress.h"

#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "model/base/status_macros.h"
#include "model/format/strict_json.h"

namespace semrank {
namespace {

using nlohmann::json;

// The loss of weights that diverged may be infinite or NaN, which JSON has no
// numbers for.
json ToJson(double value) {
  return std::isfinite(value) ? json(value) : json(absl::StrCat(value));
}

// Throws as below.
double NumberFromJson(const json& value) {
  double number = 0;
  if (value.is_string() &&
      absl::SimpleAtod(value.get<std::string>(), &number)) {
    return number;
  }
  return value.get<double>();
}

json OrNull(const std::optional<double>& value) {
  return value ? ToJson(*value) : json();
}

std::optional<double> OptionalFromJson(const json& value) {
  if (value.is_null()) return std::nullopt;
  return NumberFromJson(value);
}

json ToJson(const std::optional<MetricValues>& metrics) {
  if (!metrics) return {};
  json values = json::array();
  for (const double value : *metrics) values.push_back(ToJson(value));
  return values;
}

// Throws as below.
MetricValues MetricsFromJson(const json& values) {
  MetricValues metrics;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    metrics[i] = NumberFromJson(values.at(i));
  }
  return metrics;
}

json ToJson(const std::optional<FoldScores>& folds) {
  if (!folds) return {};
  json value = json::array();
  for (const FoldScore& fold : *folds) {
    value.push_back({ToJson(fold.score), fold.weight});
  }
  return value;
}

// Throws as below.
FoldScores FoldsFromJson(const json& value) {
  FoldScores folds;
  for (int f = 0; f < kNumFolds; ++f) {
    folds[f].score = NumberFromJson(value.at(f).at(0));
    folds[f].weight = value.at(f).at(1).get<double>();
  }
  return folds;
}

json ToJson(const ValidationResult& validation) {
  return {{"valid_loss", OrNull(validation.loss)},
          {"metrics", ToJson(validation.metrics)},
          {"judged_by_loss", validation.judged_by_loss},
          {"folds", ToJson(validation.folds)}};
}

// Throws as below.
ValidationResult ValidationFromJson(const json& value) {
  ValidationResult validation;
  validation.loss = OptionalFromJson(value.at("valid_loss"));
  if (const json& metrics = value.at("metrics"); !metrics.is_null()) {
    validation.metrics = MetricsFromJson(metrics);
  }
  validation.judged_by_loss = value.at("judged_by_loss").get<bool>();
  if (const json& folds = value.at("folds"); !folds.is_null()) {
    validation.folds = FoldsFromJson(folds);
  }
  return validation;
}

json ToJson(const EpochRecord& record) {
  json value = {{"num_pairs", record.num_pairs},
                {"seconds", record.seconds},
                {"learning_rate", record.learning_rate},
                {"peak_memory_bytes", record.peak_memory_bytes},
                {"train_loss", record.train_loss},
                {"gradient_norm", OrNull(record.gradient_norm)},
                {"best", record.best}};
  value.update(ToJson(record.validation));
  return value;
}

// Throws what json does for members that are missing or of another type.
EpochRecord FromJson(const json& value, int epoch) {
  EpochRecord record;
  record.epoch = epoch;  // not written: its place in the list
  record.num_pairs = value.at("num_pairs").get<std::int64_t>();
  record.seconds = value.at("seconds").get<double>();
  record.learning_rate = value.at("learning_rate").get<double>();
  record.peak_memory_bytes = value.at("peak_memory_bytes").get<std::int64_t>();
  record.train_loss = value.at("train_loss").get<double>();
  record.gradient_norm = OptionalFromJson(value.at("gradient_norm"));
  record.validation = ValidationFromJson(value);
  record.score = record.validation.Score().value_or(epoch);
  record.best = value.at("best").get<bool>();
  return record;
}

RunProgress FromJson(const json& value) {
  RunProgress progress;
  progress.start = absl::FromUnixSeconds(value.at("start").get<std::int64_t>());
  progress.lexical_weight = value.at("lexical_weight").get<double>();
  // Checkpoints of older versions do not have it.
  if (const json before = value.value("before_training", json());
      !before.is_null()) {
    progress.before_training = ValidationFromJson(before);
  }
  for (const json& epoch : value.at("epochs")) {
    progress.epochs.push_back(FromJson(epoch, progress.epoch()));
  }
  EpochSums& sums = progress.current;
  sums.num_batches = value.at("num_batches").get<std::int64_t>();
  sums.num_pairs = value.at("num_pairs").get<std::int64_t>();
  sums.loss = value.at("loss_sum").get<double>();
  sums.weight = value.at("weight").get<double>();
  sums.gradient_norm = value.at("gradient_norm_sum").get<double>();
  sums.seconds = value.at("seconds").get<double>();
  return progress;
}

}  // namespace

void RunProgress::FinishEpoch(const EpochRecord& record) {
  epochs.push_back(record);
  current = {};
}

std::string FormatProgress(const RunProgress& progress) {
  json epochs = json::array();
  for (const EpochRecord& record : progress.epochs) {
    epochs.push_back(ToJson(record));
  }
  json before_training;
  if (progress.before_training) {
    before_training = ToJson(*progress.before_training);
  }
  const EpochSums& sums = progress.current;
  return json{{"start", absl::ToUnixSeconds(progress.start)},
              {"lexical_weight", progress.lexical_weight},
              {"before_training", std::move(before_training)},
              {"epochs", std::move(epochs)},
              {"num_batches", sums.num_batches},
              {"num_pairs", sums.num_pairs},
              {"loss_sum", sums.loss},
              {"weight", sums.weight},
              {"gradient_norm_sum", sums.gradient_norm},
              {"seconds", sums.seconds}}
      .dump();
}

absl::StatusOr<RunProgress> ParseProgress(std::string_view text) {
  SEMRANK_ASSIGN_OR_RETURN(const json value, ParseStrictJson(text));
  try {
    RunProgress progress = FromJson(value);
    const EpochSums& sums = progress.current;
    if (sums.num_batches >= 0 && sums.num_pairs >= 0) return progress;
  } catch (const json::exception&) {
  }
  return absl::InvalidArgumentError("is not the progress of a training run");
}

}  // namespace semrank
