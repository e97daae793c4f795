#include "model/train/run/epoch_loop.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/interrupt.h"
#include "model/base/resources.h"
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

absl::Status StepLoop::RunEpoch(int epoch, EpochSums& sums,
                                const std::function<void()>& after_step) {
  using Clock = std::chrono::steady_clock;
  SEMRANK_RETURN_IF_ERROR(
      processes_.Agree(batches_.BeginEpoch(epoch, sums.num_batches)));
  for (;;) {
    // The time of an epoch includes the wait for batches, but not what the
    // caller does between two steps, such as writing a checkpoint.
    const auto start = Clock::now();
    SEMRANK_ASSIGN_OR_RETURN(const MiniBatch* batch, NextBatch());
    // All processes see the end of an epoch in the same step, as their shares
    // are cut from the same mini-batch.
    if (batch == nullptr) return absl::OkStatus();
    SEMRANK_RETURN_IF_ERROR(TakeStep(*batch, epoch, sums));
    SEMRANK_RETURN_IF_ERROR(CheckMemory());
    sums.seconds += std::chrono::duration<double>(Clock::now() - start).count();
    after_step();
  }
}

absl::StatusOr<const MiniBatch*> StepLoop::NextBatch() {
  absl::StatusOr<const MiniBatch*> batch = absl::CancelledError("interrupted");
  if (!Interrupted()) batch = batches_.Next();
  return processes_.Agree(std::move(batch));
}

absl::Status StepLoop::TakeStep(const MiniBatch& batch, int epoch,
                                EpochSums& sums) {
  const std::int64_t step =
      (epoch - 1) * batches_.num_batches() + sums.num_batches;
  SEMRANK_ASSIGN_OR_RETURN(
      const double loss,
      trainer_.Step(batch,
                    {.learning_rate = LearningRateOf(step),
                     .number = step,
                     .concurrent_work = [this] { batches_.PrepareNext(); }}));
  // Training cannot recover from a NaN or infinite loss, so the run stops.
  if (!std::isfinite(loss)) {
    return absl::OutOfRangeError(absl::StrFormat(
        "the loss is no longer a number in batch %d of epoch %d; "
        "--learning_rate=%g is too high",
        sums.num_batches + 1, epoch, options_.optimizer.learning_rate));
  }
  // The step's loss is a mean; batches differ by one pair, and in weight.
  sums.loss += loss * batch.total_weight();
  sums.gradient_norm += trainer_.gradient_norm();
  sums.weight += batch.total_weight();
  sums.num_pairs += batch.num_pairs();
  ++sums.num_batches;
  return absl::OkStatus();
}

// In all processes: each has its own memory.
absl::Status StepLoop::CheckMemory() {
  if (options_.data.memory_limit == 0 || measured_steps_ == kMeasuredSteps) {
    return absl::OkStatus();
  }
  ++measured_steps_;
  return processes_.Agree(CheckResidentMemory(options_, bytes_to_come_));
}

double StepLoop::LearningRateOf(std::int64_t step) const {
  return LearningRate(options_.optimizer, step,
                      options_.epochs * batches_.num_batches());
}

absl::StatusOr<bool> EpochLoop::Run() {
  SEMRANK_RETURN_IF_ERROR(inputs_.state.Begin());
  SEMRANK_RETURN_IF_ERROR(CheckSameWeights("at the start"));
  while (history().epoch() <= inputs_.options.epochs) {
    if (inputs_.state.ShouldStop()) {
      absl::FPrintF(stderr, "no improvement since epoch %d: stopping\n",
                    inputs_.state.highest_epoch());
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
  // NaN is no better than anything, so a run whose scores were all NaN has no
  // best epoch.
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
        history().epochs.empty() ? "" : " that did not diverge", advice));
  }
  absl::FPrintF(stderr, "interrupted in epoch %d%s\n", history().epoch(),
                advice);
  return absl::OkStatus();
}

// For people, who see what the training changed. A run that is resumed knows it
// from its checkpoint.
absl::Status EpochLoop::MeasureBeforeTraining() {
  if (inputs_.state.num_steps() > 0) return absl::OkStatus();
  SEMRANK_ASSIGN_OR_RETURN(ValidationResult validation, Validate());
  if (!validation.loss && !validation.metrics) return absl::OkStatus();
  absl::FPrintF(stderr, "before training%s\n",
                FormatValidationText(validation));
  history().before_training = validation;
  return absl::OkStatus();
}

absl::StatusOr<EpochRecord> EpochLoop::RunEpoch() {
  SEMRANK_RETURN_IF_ERROR(MeasureBeforeTraining());
  SEMRANK_RETURN_IF_ERROR(TakeSteps());
  const EpochSums& sums = history().current;
  EpochRecord record;
  record.epoch = history().epoch();
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
  // The score of the first makes all processes stop in the same epoch. Where
  // nothing chooses the epoch, the last one is the best.
  record.score = inputs_.workers.processes.Broadcast(
      record.validation.Score().value_or(record.epoch));
  return record;
}

absl::StatusOr<ValidationResult> EpochLoop::Validate() {
  return inputs_.workers.processes.OnFirst([this] {
    return inputs_.validator.Validate(
        inputs_.state.trainer(),
        WithLexicalWeight(inputs_.report.config, history().lexical_weight),
        inputs_.workers.pool);
  });
}

// Different weights mean that the processes do different work from here on.
absl::Status EpochLoop::CheckSameWeights(std::string_view when) {
  Communicator& processes = inputs_.workers.processes;
  // A hash of all weights takes a while.
  if (processes.is_alone()) return absl::OkStatus();
  return processes.CheckSame(
      TensorsFingerprint(inputs_.state.trainer().Weights()),
      absl::StrFormat("weights %s (other flags or builds, or a fault of memory "
                      "or network)",
                      when));
}

// Trains on one epoch, or after a resume on what is left of it.
absl::Status EpochLoop::TakeSteps() {
  // The weights of the first epoch are copied at its end.
  steps_.set_bytes_to_come(history().epochs.empty() &&
                                   inputs_.workers.processes.is_first()
                               ? TensorBytes(inputs_.state.trainer().Weights())
                               : 0);
  const int epoch = history().epoch();
  EpochSums& sums = history().current;
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
  if (!inputs_.workers.processes.is_first()) return;
  absl::FPrintF(stderr, "%s\n", FormatEpochText(record));
  const auto growth = DescribeLossGrowth(
      history().epochs, inputs_.options.optimizer.learning_rate);
  if (growth && !std::exchange(has_warned_of_loss_, true)) {
    absl::FPrintF(stderr, "%s\n", *growth);
  }
  warnings_.WarnUnlessOk("no line in the log",
                         inputs_.log->Append(record, history().start));
  warnings_.WarnUnlessOk("no report", WriteReport(inputs_.report, history()));
}

}  // namespace semrank
