#include "model/train/run/epoch_loop.h"

#include <cstdio>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/cli/progress.h"
#include "model/train/data/memory_budget.h"
#include "model/train/validation/trained_model.h"

namespace semrank {

absl::StatusOr<bool> EpochLoop::Run() {
  SEMRANK_RETURN_IF_ERROR(inputs_.state.Begin());
  SEMRANK_RETURN_IF_ERROR(CheckSameWeights("at the start"));
  while (progress().epoch() <= inputs_.options.epochs) {
    if (inputs_.state.ShouldStop()) {
      absl::FPrintF(stderr, "no improvement since epoch %d: stopping\n",
                    inputs_.state.best().epoch);
      break;
    }
    absl::StatusOr<EpochRecord> record = RunEpoch();
    // Ctrl-C ends all processes in the same step, or during validation.
    if (absl::IsCancelled(record.status())) {
      SEMRANK_RETURN_IF_ERROR(HandleInterrupt());
      return false;
    }
    if (!record.ok()) return record.status();
    FinishEpoch(*std::move(record));
  }
  if (inputs_.state.has_best()) return true;
  return absl::OutOfRangeError(absl::StrFormat(
      "validation gave no number after any epoch; --learning_rate=%g is too "
      "high",
      inputs_.options.optimizer.learning_rate));
}

// OK when there is something to publish.
absl::Status EpochLoop::HandleInterrupt() {
  inputs_.state.WriteCheckpoint();
  const std::string advice = inputs_.state.ResumeAdvice();
  if (!inputs_.state.has_best()) {
    return absl::CancelledError(absl::StrFormat(
        "interrupted before the end of the first epoch%s; nothing is "
        "published%s",
        progress().epochs.empty() ? "" : " that did not diverge", advice));
  }
  absl::FPrintF(stderr, "interrupted in epoch %d%s\n", progress().epoch(),
                advice);
  return absl::OkStatus();
}

// The result must not be worse than this (CheckBetterThanBefore). A run that is
// resumed knows it from its checkpoint.
absl::Status EpochLoop::MeasureBeforeTraining() {
  if (inputs_.state.num_steps() > 0) return absl::OkStatus();
  SEMRANK_ASSIGN_OR_RETURN(ValidationResult validation, Validate());
  if (!validation.Score()) return absl::OkStatus();
  absl::FPrintF(stderr, "before training%s\n",
                FormatValidationText(validation));
  progress().before_training = std::move(validation);
  return absl::OkStatus();
}

absl::StatusOr<EpochRecord> EpochLoop::RunEpoch() {
  SEMRANK_RETURN_IF_ERROR(MeasureBeforeTraining());
  SEMRANK_RETURN_IF_ERROR(TakeSteps());
  const EpochSums& sums = progress().current;
  EpochRecord record;
  record.epoch = progress().epoch();
  record.num_pairs = sums.num_pairs;
  record.train_loss = sums.loss / sums.weight;
  if (inputs_.options.optimizer.gradient_clip_norm > 0) {
    record.gradient_norm =
        sums.gradient_norm / static_cast<double>(sums.num_batches);
  }
  record.seconds = sums.seconds;
  // num_steps() counts the steps that were taken; the last one was before it.
  record.learning_rate = steps_.LearningRateOf(inputs_.state.num_steps() - 1);
  record.peak_memory_bytes = PeakResidentMemory();
  SEMRANK_RETURN_IF_ERROR(
      CheckSameWeights(absl::StrFormat("after epoch %d", record.epoch)));
  SEMRANK_ASSIGN_OR_RETURN(record.validation, Validate());
  // The score of rank 0 makes all processes stop in the same epoch. Without
  // validation the last epoch is the best one.
  record.score = BroadcastFromRank0(
      inputs_.communicator, record.validation.Score().value_or(record.epoch));
  return record;
}

absl::StatusOr<ValidationResult> EpochLoop::Validate() {
  return OnRank0(inputs_.communicator, [this] {
    return inputs_.validator.Validate(
        inputs_.state.trainer(),
        WithLexicalWeight(inputs_.report.config, progress().lexical_weight),
        inputs_.pool);
  });
}

// Different weights mean that the processes do different work from here on.
absl::Status EpochLoop::CheckSameWeights(std::string_view when) {
  if (inputs_.communicator.num_processes() == 1) return absl::OkStatus();
  return CheckSameOnAllRanks(
      inputs_.communicator,
      TensorsFingerprint(inputs_.state.trainer().Weights()),
      absl::StrFormat("weights %s (other flags or builds, or a fault of memory "
                      "or network)",
                      when));
}

// Trains on one epoch, or after a resume on what is left of it.
absl::Status EpochLoop::TakeSteps() {
  // The weights of the first epoch are copied at its end.
  steps_.set_bytes_to_come(progress().epochs.empty() &&
                                   inputs_.communicator.is_rank0()
                               ? TensorBytes(inputs_.state.trainer().Weights())
                               : 0);
  const int epoch = progress().epoch();
  EpochSums& sums = progress().current;
  ProgressBar bar(absl::StrFormat("epoch %d/%d", epoch, inputs_.options.epochs),
                  inputs_.batches.num_pairs(), "pairs");
  return steps_.RunEpoch(epoch, sums, [&] {
    // Between two steps: weights, optimizer and position belong together.
    inputs_.state.WriteCheckpointIfDue();
    bar.Update(sums.num_pairs,
               absl::StrFormat("loss %.4f", sums.loss / sums.weight));
  });
}

void EpochLoop::FinishEpoch(EpochRecord record) {
  // The state decides whether the epoch is the best, which is printed.
  inputs_.state.FinishEpoch(record);
  if (!inputs_.communicator.is_rank0()) return;
  absl::FPrintF(stderr, "%s\n", FormatEpochText(record));
  const auto growth = DescribeLossGrowth(
      progress().epochs, inputs_.options.optimizer.learning_rate);
  if (growth && !std::exchange(has_warned_of_loss_, true)) {
    absl::FPrintF(stderr, "%s\n", *growth);
  }
  warnings_.WarnUnlessOk("no line in the log",
                         inputs_.log->Append(record, progress().start));
  warnings_.WarnUnlessOk("no report", WriteReport(inputs_.report, progress()));
}

}  // namespace semrank
