// The metrics of a run as JSON lines, one object an epoch, in training.jsonl
// in the model directory. Later runs append to the file; "run", the time at
// which a run began, distinguishes them. A resumed run repeats the epochs since
// its checkpoint; the later line of an epoch is valid.
//
//   {"run": "2025-03-01T12:00:00Z", "epoch": 1, "pairs": 25240, "seconds":
//    1.52, "pairs_per_second": 16605, "learning_rate": 0.001,
//    "peak_memory_bytes": 91226112, "train_loss": 4.21, "valid_loss": 3.98,
//    "ndcg@1": 0.25, ..., "best": true, "skipped_lines": 0}
//
//   skipped_lines counts the bad lines of all files of the run.
//   valid_loss and the ranking metrics only with such a validation;
//   gradient_norm, after train_loss, only when gradients are clipped; with
//   --valid_halves, "halves": {"measure": "ndcg@10" or "valid_loss", "scores":
//   of each half, higher is better, so a loss is negated, "weights": queries
//   (loss: pairs) of each half}.
#ifndef SEMRANK_MODEL_TRAIN_REPORT_TRAINING_LOG_H_
#define SEMRANK_MODEL_TRAIN_REPORT_TRAINING_LOG_H_

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "model/base/file_descriptor.h"
#include "model/train/validation/validator.h"

namespace semrank {

struct EpochRecord {
  int epoch = 0;  // from 1
  std::int64_t num_pairs = 0;
  double seconds = 0;        // of training, without validation
  double learning_rate = 0;  // of its last mini-batch
  // The most that this process has had; 0 where the system does not say.
  std::int64_t peak_memory_bytes = 0;
  double train_loss = 0;
  // Mean over its mini-batches, before clipping; none without clipping.
  std::optional<double> gradient_norm = {};
  ValidationResult validation;
  // What early stopping compares, higher is better, the same in all processes
  // of a run: validation.Score(), or `epoch` without validation.
  double score = 0;
  bool best = false;  // so far

  double pairs_per_second() const {
    return seconds > 0 ? static_cast<double>(num_pairs) / seconds : 0;
  }
};

// The members of an epoch, named as above.
nlohmann::ordered_json EpochMeasures(const EpochRecord& record);
// One line of the file, without its end.
std::string FormatEpochJson(const EpochRecord& record, absl::Time run_start,
                            std::int64_t skipped_lines);
// "valid_loss" and the ranking metrics, as far as it has them.
nlohmann::ordered_json ValidationMeasures(const ValidationResult& validation);
// For people: "epoch 3: loss 1.20, validation loss 1.31, ...".
std::string FormatEpochText(const EpochRecord& record);
// ", validation loss 1.31, NDCG@1 0.25, ..."; "" without validation.
std::string FormatValidationText(const ValidationResult& validation);

// A warning that steps are too long, when both of the last two epochs ended
// with a higher training loss than the first. Otherwise nullopt.
std::optional<std::string> DescribeLossGrowth(
    std::span<const EpochRecord> epochs, double learning_rate);

class TrainingLog {
 public:
  // Fails as CheckWritable.
  static absl::StatusOr<std::unique_ptr<TrainingLog>> Open(
      const std::string& model_dir, std::int64_t skipped_lines);

  // Writes a record of the run that began at `run_start` at once. After an
  // error it is written again together with the next one, on a new line.
  absl::Status Append(const EpochRecord& record, absl::Time run_start);

 private:
  TrainingLog(FileDescriptor file, std::int64_t skipped_lines)
      : file_(std::move(file)), skipped_lines_(skipped_lines) {}

  FileDescriptor file_;
  std::int64_t skipped_lines_;
  std::string unwritten_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_REPORT_TRAINING_LOG_H_
