#include "model/train/report/training_log.h"

#include <fcntl.h>

#include <nlohmann/json.hpp>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/train/report/run_files.h"

namespace semrank {

nlohmann::ordered_json ValidationMeasures(const ValidationResult& validation) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  if (validation.loss) json["valid_loss"] = *validation.loss;
  if (validation.metrics) json.update(MetricsJson(*validation.metrics));
  return json;
}

// Members keep this order in the file: people read the first ones of a line.
nlohmann::ordered_json EpochMeasures(const EpochRecord& record) {
  nlohmann::ordered_json json = {
      {"epoch", record.epoch},
      {"pairs", record.num_pairs},
      {"seconds", record.seconds},
      {"pairs_per_second", record.pairs_per_second()},
      {"learning_rate", record.learning_rate},
      {"peak_memory_bytes", record.peak_memory_bytes},
      {"train_loss", record.train_loss}};
  // Measures that a run does not take are absent, not null.
  if (record.gradient_norm) json["gradient_norm"] = *record.gradient_norm;
  const ValidationResult& validation = record.validation;
  json.update(ValidationMeasures(validation));
  if (validation.folds) {
    const auto& [first, second] = *validation.folds;
    json["halves"] = {
        {"measure",
         validation.measure == EpochMeasure::kLoss ? "valid_loss" : "ndcg@10"},
        {"scores", {first.score, second.score}},
        {"weights", {first.weight, second.weight}}};
  }
  json["best"] = record.best;
  return json;
}

std::string FormatEpochJson(const EpochRecord& record, absl::Time run_start,
                            std::int64_t skipped_lines) {
  nlohmann::ordered_json json = {
      {"run", absl::FormatTime("%Y-%m-%d%ET%H:%M:%SZ", run_start,
                               absl::UTCTimeZone())}};
  json.update(EpochMeasures(record));
  json["skipped_lines"] = skipped_lines;
  return json.dump();
}

std::string FormatValidationText(const ValidationResult& validation) {
  std::string text;
  if (validation.loss) {
    absl::StrAppendFormat(&text, ", validation loss %.4f", *validation.loss);
  }
  if (validation.metrics) {
    absl::StrAppendFormat(&text, ", NDCG@1 %.4f, @3 %.4f, @10 %.4f",
                          (*validation.metrics)[kNdcgAt1],
                          (*validation.metrics)[kNdcgAt3],
                          (*validation.metrics)[kNdcgAt10]);
  }
  return text;
}

std::string FormatEpochText(const EpochRecord& record) {
  std::string text =
      absl::StrFormat("epoch %d: loss %.4f", record.epoch, record.train_loss) +
      FormatValidationText(record.validation);
  if (record.best && record.validation.Score()) text += ", best so far";
  return text;
}

std::optional<std::string> DescribeLossGrowth(
    std::span<const EpochRecord> epochs, double learning_rate) {
  // One epoch above the first may be noise; two in a row are a trend.
  if (epochs.size() < 3) return std::nullopt;
  const double first = epochs.front().train_loss;
  const double last = epochs.back().train_loss;
  const double before = epochs[epochs.size() - 2].train_loss;
  // The negation also leaves NaN out, which ends the run with its own message.
  if (!(before > first && last > first)) return std::nullopt;
  return absl::StrFormat(
      "the training loss was %.4f in epoch 1 and has been higher for two "
      "epochs (%.4f, %.4f): --learning_rate=%g may be too high",
      first, before, last, learning_rate);
}

absl::StatusOr<std::unique_ptr<TrainingLog>> TrainingLog::Open(
    const std::string& model_dir, std::int64_t skipped_lines) {
  SEMRANK_RETURN_IF_ERROR(CheckWritable(model_dir));
  // O_NOFOLLOW: a link that another user has put there must not make the run
  // append to a file of its own user.
  SEMRANK_ASSIGN_OR_RETURN(
      FileDescriptor file,
      FileDescriptor::Open(model_dir + "/" + kTrainingLogFile,
                           O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW));
  // make_unique cannot reach the private constructor.
  return std::unique_ptr<TrainingLog>(
      new TrainingLog(std::move(file), skipped_lines));
}

absl::Status TrainingLog::Append(const EpochRecord& record,
                                 absl::Time run_start) {
  // One write a line: with O_APPEND two runs cannot mix theirs.
  unwritten_ += FormatEpochJson(record, run_start, skipped_lines_) + "\n";
  const absl::Status status = file_.Write(unwritten_);
  // A failed write may have left half a line, which the line feed ends.
  unwritten_ = status.ok() ? "" : "\n" + unwritten_;
  return status;
}

}  // namespace semrank
