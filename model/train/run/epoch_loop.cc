#include "model/train/run/epoch_loop.h"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/interrupt.h"
#include "model/base/status_macros.h"
#include "model/cli/progress.h"
#include "model/train/data/memory_budget.h"
#include "model/train/optimizer/parameter_optimizer.h"
#include "model/train/validation/trained_model.h"

namespace semrank {
namespace {

// After these every buffer of a step has its size.
constexpr int kMeasuredSteps = 8;

}  // namespace

absl::StatusOr<bool> EpochLoop::Run() {
  SEMRANK_RETURN_IF_ERROR(parts_.state.Begin());
  SEMRANK_RETURN_IF_ERROR(CheckSameWeights("at the start"));
  while (progress().epoch() <= parts_.options.epochs) {
    if (parts_.state.ShouldStop()) {
      absl::FPrintF(stderr, "no improvement since epoch %d: stopping\n",
                    parts_.state.best().epoch);
      break;
    }
    absl::StatusOr<EpochRecord> record = RunEpoch();
    // Ctrl-C, seen by all processes in the same step, or during validation.
    if (absl::IsCancelled(record.status())) {
      SEMRANK_RETURN_IF_ERROR(HandleInterrupt());
      return false;
    }
    if (!record.ok()) return record.status();
    FinishEpoch(*std::move(record));
  }
  if (parts_.state.has_best()) return true;
  return absl::OutOfRangeError(absl::StrFormat(
      "validation gave no number after any epoch; --learning_rate=%g is too "
      "high",
      parts_.options.optimizer.learning_rate));
}

// OK when there is something to publish.
absl::Status EpochLoop::HandleInterrupt() {
  parts_.state.WriteCheckpoint();
  const std::string advice = parts_.state.ResumeAdvice();
  if (!parts_.state.has_best()) {
    return absl::CancelledError(absl::StrFormat(
        "interrupted before the end of the first epoch%s; nothing is "
        "published%s",
        progress().epochs.empty() ? "" : " that did not diverge", advice));
  }
  absl::FPrintF(stderr, "interrupted in epoch %d%s\n", progress().epoch(),
                advice);
  return absl::OkStatus();
}

double EpochLoop::LearningRateOf(std::int64_t step) const {
  return LearningRate(parts_.options.optimizer, step,
                      parts_.options.epochs * parts_.batches.num_batches());
}

// What the result must not be worse than (CheckBetterThanBefore). A run that is
// resumed knows it from its checkpoint.
absl::Status EpochLoop::MeasureBeforeTraining() {
  if (parts_.state.num_steps() > 0) return absl::OkStatus();
  absl::StatusOr<ValidationResult> validation = Validate();
  SEMRANK_RETURN_IF_ERROR(
      AgreeOnStatus(parts_.communicator, validation.status()));
  if (!validation->Score()) return absl::OkStatus();
  absl::FPrintF(stderr, "before training%s\n",
                FormatValidationText(*validation));
  progress().before_training = *std::move(validation);
  return absl::OkStatus();
}

absl::StatusOr<EpochRecord> EpochLoop::RunEpoch() {
  SEMRANK_RETURN_IF_ERROR(MeasureBeforeTraining());
  SEMRANK_RETURN_IF_ERROR(TrainOnAllPairs());
  EpochRecord record;
  record.epoch = progress().epoch();
  record.num_pairs = progress().num_pairs;
  record.train_loss = progress().loss_sum / progress().weight;
  if (parts_.options.optimizer.gradient_clip_norm > 0) {
    record.gradient_norm = progress().gradient_norm_sum /
                           static_cast<double>(progress().num_batches);
  }
  record.seconds = progress().seconds;
  // That of the epoch's last step; num_steps counts steps that were taken.
  record.learning_rate = LearningRateOf(parts_.state.num_steps() - 1);
  record.peak_memory_bytes = PeakResidentMemory();
  SEMRANK_RETURN_IF_ERROR(
      CheckSameWeights(absl::StrFormat("after epoch %d", record.epoch)));
  Communicator& communicator = parts_.communicator;
  absl::StatusOr<ValidationResult> validation = Validate();
  SEMRANK_RETURN_IF_ERROR(AgreeOnStatus(communicator, validation.status()));
  record.validation = *std::move(validation);
  // Rank 0 alone validates; its score makes the others stop in the same epoch.
  const double score = BroadcastFromRank0(
      communicator, record.validation.Score().value_or(record.epoch));
  if (!communicator.is_rank0()) record.validation.loss = -score;
  return record;
}

absl::StatusOr<ValidationResult> EpochLoop::Validate() {
  if (!parts_.communicator.is_rank0()) return ValidationResult();
  return parts_.validator.Validate(
      parts_.state.trainer(),
      WithLexicalWeight(parts_.report.config, progress().lexical_weight),
      parts_.pool);
}

// Different weights mean that the processes do different work from here on.
absl::Status EpochLoop::CheckSameWeights(std::string_view when) {
  if (parts_.communicator.num_processes() == 1) return absl::OkStatus();
  return CheckSameOnAllRanks(
      parts_.communicator, TensorsFingerprint(parts_.state.trainer().Weights()),
      absl::StrFormat("weights %s (other flags or builds, or a fault of memory "
                      "or network)",
                      when));
}

// One epoch, or after a resume what is left of it.
absl::Status EpochLoop::TrainOnAllPairs() {
  BatchSource& batches = parts_.batches;
  SEMRANK_RETURN_IF_ERROR(AgreeOnStatus(
      parts_.communicator,
      batches.BeginEpoch(progress().epoch(), progress().num_batches)));
  ProgressBar bar(
      absl::StrFormat("epoch %d/%d", progress().epoch(), parts_.options.epochs),
      batches.num_pairs(), "pairs");
  for (;;) {
    const auto start = std::chrono::steady_clock::now();
    // Waiting for a batch counts as time of the epoch, writing checkpoints does
    // not.
    SEMRANK_ASSIGN_OR_RETURN(const MiniBatch* batch, NextBatch());
    if (batch == nullptr) return absl::OkStatus();
    SEMRANK_RETURN_IF_ERROR(TakeStep(*batch));
    SEMRANK_RETURN_IF_ERROR(CheckMemory());
    progress().seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
            .count();
    // Between two steps: weights, optimizer and position belong together.
    parts_.state.WriteCheckpointIfDue();
    bar.Update(
        progress().num_pairs,
        absl::StrFormat("loss %.4f", progress().loss_sum / progress().weight));
  }
}

// Ctrl-C, and a read error, end all processes in the same step.
absl::StatusOr<const MiniBatch*> EpochLoop::NextBatch() {
  absl::StatusOr<const MiniBatch*> batch = absl::CancelledError("interrupted");
  if (!Interrupted()) batch = parts_.batches.Next();
  SEMRANK_RETURN_IF_ERROR(AgreeOnStatus(parts_.communicator, batch.status()));
  return batch;
}

// In all processes: each has its own memory.
absl::Status EpochLoop::CheckMemory() {
  if (parts_.options.data.memory_limit == 0) return absl::OkStatus();
  if (measured_steps_ == kMeasuredSteps) return absl::OkStatus();
  ++measured_steps_;
  // The first epoch is copied at its end.
  std::int64_t copy_bytes = 0;
  if (progress().epochs.empty() && parts_.communicator.is_rank0()) {
    copy_bytes = TensorBytes(parts_.state.trainer().Weights());
  }
  return AgreeOnStatus(parts_.communicator,
                       CheckResidentMemory(parts_.options, copy_bytes));
}

absl::Status EpochLoop::TakeStep(const MiniBatch& batch) {
  const std::int64_t step = parts_.state.num_steps();
  ModelTrainer& trainer = parts_.state.trainer();
  SEMRANK_ASSIGN_OR_RETURN(
      const double loss,
      trainer.Step(batch, {.learning_rate = LearningRateOf(step),
                           .number = step,
                           .concurrent_work = [this] {
                             parts_.batches.PrepareNext();
                           }}));
  RunProgress& progress = parts_.state.progress();
  if (!std::isfinite(loss)) {
    return absl::OutOfRangeError(absl::StrFormat(
        "the loss is no longer a number in batch %d of epoch %d; "
        "--learning_rate=%g is too high",
        progress.num_batches + 1, progress.epoch(),
        parts_.options.optimizer.learning_rate));
  }
  // The step's loss is a mean; batches differ by one pair, and in weight.
  progress.loss_sum += loss * batch.total_weight();
  progress.gradient_norm_sum += trainer.gradient_norm();
  progress.weight += batch.total_weight();
  progress.num_pairs += batch.num_pairs();
  ++progress.num_batches;
  return absl::OkStatus();
}

void EpochLoop::FinishEpoch(EpochRecord record) {
  // First, as it decides whether the epoch is the best, which is printed.
  parts_.state.FinishEpoch(record);
  if (!parts_.communicator.is_rank0()) return;
  absl::FPrintF(stderr, "%s\n", FormatEpochText(record));
  const auto growth = DescribeLossGrowth(
      progress().epochs, parts_.options.optimizer.learning_rate);
  if (growth && !std::exchange(has_warned_of_loss_, true)) {
    absl::FPrintF(stderr, "%s\n", *growth);
  }
  warnings_.WarnUnlessOk("no line in the log",
                         parts_.log->Append(record, progress().start));
  warnings_.WarnUnlessOk("no report", WriteReport(parts_.report, progress()));
}

}  // namespace semrank
