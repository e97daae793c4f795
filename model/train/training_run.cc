#include "model/train/training_run.h"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "model/base/interrupt.h"
#include "model/base/progress.h"
#include "model/base/status_macros.h"
#include "model/format/model_bundle.h"
#include "model/train/batch_plan.h"
#include "model/train/learning_rate_schedule.h"
#include "model/train/random.h"
#include "model/train/trained_model.h"

namespace semrank {

TrainingRun::TrainingRun(const TrainOptions& options, const TrainingData& data,
                         const Validator& validator, TrainingLog& log)
    : options_(options),
      data_(data),
      validator_(validator),
      log_(log),
      config_(DescribeModel(options, data.featurizer)),
      pool_(options.threads > 0 ? options.threads : NumUsableProcessors()),
      sampler_(options.loss, data.titles),
      trainer_(MakeModelTrainer(options, data, pool_)),
      stopping_(options.patience) {}

absl::Status TrainingRun::RunEpochs() {
  for (int epoch = 1; epoch <= options_.epochs; ++epoch) {
    absl::StatusOr<EpochRecord> record = RunEpoch(epoch);
    if (absl::IsCancelled(record.status())) {
      if (epoch == 1) {
        return absl::CancelledError(
            "interrupted before the end of the first epoch; nothing is "
            "published");
      }
      absl::FPrintF(stderr, "interrupted in epoch %d\n", epoch);
      return absl::OkStatus();
    }
    if (!record.ok()) return record.status();
    SEMRANK_RETURN_IF_ERROR(FinishEpoch(*std::move(record)));
    if (stopping_.ShouldStop()) {
      absl::FPrintF(stderr, "no improvement since epoch %d: stopping\n",
                    stopping_.best_epoch());
      break;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<EpochRecord> TrainingRun::RunEpoch(int epoch) {
  EpochRecord record;
  record.epoch = epoch;
  record.num_pairs = static_cast<std::int64_t>(data_.train_pairs.size());
  const auto start = std::chrono::steady_clock::now();
  SEMRANK_ASSIGN_OR_RETURN(record.train_loss, TrainOnAllPairs(epoch));
  record.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  SEMRANK_ASSIGN_OR_RETURN(record.validation,
                           validator_.Validate(*trainer_, config_, pool_));
  return record;
}

// One pass in an order of its own; the mean loss over it.
absl::StatusOr<double> TrainingRun::TrainOnAllPairs(int epoch) {
  std::vector<TextPair> pairs = data_.train_pairs;
  Random order(options_.seed, RandomPurpose::kPairOrder, epoch);
  Shuffle(order, pairs);

  const std::int64_t num_pairs = static_cast<std::int64_t>(pairs.size());
  const BatchPlan plan(num_pairs, options_.batch_size);
  ProgressBar progress(absl::StrFormat("epoch %d/%d", epoch, options_.epochs),
                       num_pairs, "pairs");
  const std::int64_t first_batch = (epoch - 1) * plan.num_batches();
  const LearningRateSchedule schedule(options_.optimizer,
                                      options_.epochs * plan.num_batches());
  double loss_sum = 0;
  std::int64_t num_done = 0;
  for (std::int64_t b = 0; b < plan.num_batches(); ++b) {
    if (Interrupted()) return absl::CancelledError("interrupted");
    Random negatives(options_.seed, RandomPurpose::kNegatives, epoch, b);
    sampler_.Sample(plan.Batch<TextPair>(pairs, b), negatives, batch_);
    SEMRANK_ASSIGN_OR_RETURN(
        const double loss,
        trainer_->Step(batch_,
                       {.learning_rate = schedule.Rate(first_batch + b)}));
    if (!std::isfinite(loss)) {
      return absl::OutOfRangeError(absl::StrFormat(
          "the loss is no longer a number in batch %d of epoch %d; "
          "--learning_rate=%g is too high",
          b + 1, epoch, options_.optimizer.learning_rate));
    }
    loss_sum += loss * batch_.num_pairs();
    num_done += batch_.num_pairs();
    progress.Update(num_done,
                    absl::StrFormat("loss %.4f", loss_sum / num_done));
  }
  return loss_sum / static_cast<double>(num_pairs);
}

absl::Status TrainingRun::FinishEpoch(EpochRecord record) {
  // Without validation every epoch is taken to be better than the last.
  record.best = stopping_.Add(record.validation.Score().value_or(record.epoch));
  if (record.best) {
    best_ = record;
    best_weights_.Assign(trainer_->Weights());
  }
  absl::FPrintF(stderr, "%s\n", FormatEpochText(record));
  return log_.Append(record);
}

absl::StatusOr<TrainingSummary> TrainingRun::Publish() {
  v1::TrainingFacts& facts = *config_.mutable_training();
  facts.set_num_pairs(best_.num_pairs);
  facts.set_epochs_run(stopping_.num_epochs());
  facts.set_best_epoch(best_.epoch);
  if (best_.validation.loss) {
    facts.set_validation_loss(*best_.validation.loss);
  }
  if (best_.validation.metrics) {
    facts.set_validation_ndcg_at_10((*best_.validation.metrics)[kNdcgAt10]);
  }
  facts.mutable_create_time()->set_seconds(absl::ToUnixSeconds(absl::Now()));

  const std::string& model_dir = options_.data.model_dir;
  SEMRANK_ASSIGN_OR_RETURN(
      const std::int64_t version,
      PublishModel(model_dir, {.config = config_,
                               .featurizer = &data_.featurizer,
                               .tensors = best_weights_.views()}));
  return TrainingSummary{.version_dir = (std::filesystem::path(model_dir) /
                                         absl::StrFormat("%d", version))
                                            .string(),
                         .version = version,
                         .best = best_,
                         .epochs_run = stopping_.num_epochs()};
}

}  // namespace semrank
