#include "model/train/run/step_loop.h"

#include <chrono>
#include <cmath>

#include "absl/strings/str_format.h"
#include "model/base/interrupt.h"
#include "model/base/status_macros.h"
#include "model/train/data/memory_budget.h"
#include "model/train/optimizer/parameter_optimizer.h"

namespace semrank {
namespace {

// After these every buffer of a step has its size.
constexpr int kMeasuredSteps = 8;

}  // namespace

absl::Status StepLoop::RunEpoch(int epoch, EpochSums& sums,
                                const std::function<void()>& after_step) {
  using Clock = std::chrono::steady_clock;
  SEMRANK_RETURN_IF_ERROR(AgreeOnStatus(
      communicator_, batches_.BeginEpoch(epoch, sums.num_batches)));
  for (;;) {
    // The time of an epoch includes the wait for batches, but not what the
    // caller does between two steps, such as writing a checkpoint.
    const auto start = Clock::now();
    SEMRANK_ASSIGN_OR_RETURN(const MiniBatch* batch, NextBatch());
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
  return AgreeOnResult(communicator_, std::move(batch));
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
  return AgreeOnStatus(communicator_,
                       CheckResidentMemory(options_, bytes_to_come_));
}

double StepLoop::LearningRateOf(std::int64_t step) const {
  return LearningRate(options_.optimizer, step,
                      options_.epochs * batches_.num_batches());
}

}  // namespace semrank
