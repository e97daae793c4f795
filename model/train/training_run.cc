#include "model/train/training_run.h"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "model/base/interrupt.h"
#include "model/base/progress.h"
#include "model/base/status_macros.h"
#include "model/format/model_bundle.h"
#include "model/train/learning_rate_schedule.h"
#include "model/train/trained_model.h"

namespace semrank {

TrainingRun::TrainingRun(const TrainOptions& options, const TrainingData& data,
                         BatchSource& batches, const Validator& validator,
                         TrainingLog& log, TrainingReport& report)
    : options_(options),
      data_(data),
      batches_(batches),
      validator_(validator),
      log_(log),
      report_(report),
      config_(DescribeModel(options, data.featurizer)),
      pool_(options.threads > 0 ? options.threads : NumUsableProcessors()),
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
  record.num_pairs = batches_.num_pairs();
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
  SEMRANK_RETURN_IF_ERROR(batches_.BeginEpoch(epoch, /*first_batch=*/0));
  ProgressBar progress(absl::StrFormat("epoch %d/%d", epoch, options_.epochs),
                       batches_.num_pairs(), "pairs");
  const std::int64_t first_batch = (epoch - 1) * batches_.num_batches();
  const LearningRateSchedule schedule(options_.optimizer,
                                      options_.epochs * batches_.num_batches());
  double loss_sum = 0, weight = 0;
  std::int64_t num_done = 0;
  for (std::int64_t b = 0;; ++b) {
    if (Interrupted()) return absl::CancelledError("interrupted");
    SEMRANK_ASSIGN_OR_RETURN(const MiniBatch* batch, batches_.Next());
    if (batch == nullptr) return loss_sum / weight;
    SEMRANK_ASSIGN_OR_RETURN(
        const double loss,
        trainer_->Step(*batch,
                       {.learning_rate = schedule.Rate(first_batch + b)}));
    if (!std::isfinite(loss)) {
      return absl::OutOfRangeError(absl::StrFormat(
          "the loss is no longer a number in batch %d of epoch %d; "
          "--learning_rate=%g is too high",
          b + 1, epoch, options_.optimizer.learning_rate));
    }
    loss_sum += loss * batch->total_weight();
    weight += batch->total_weight();
    num_done += batch->num_pairs();
    progress.Update(num_done, absl::StrFormat("loss %.4f", loss_sum / weight));
  }
}

absl::Status TrainingRun::FinishEpoch(EpochRecord record) {
  // Without validation every epoch is taken to be better than the last.
  record.best = stopping_.Add(record.validation.Score().value_or(record.epoch));
  if (record.best) {
    best_ = record;
    best_weights_.Assign(trainer_->Weights());
  }
  absl::FPrintF(stderr, "%s\n", FormatEpochText(record));
  SEMRANK_RETURN_IF_ERROR(log_.Append(record));
  return report_.Append(record);
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
  TrainingSummary summary = {.version_dir = (std::filesystem::path(model_dir) /
                                             absl::StrFormat("%d", version))
                                                .string(),
                             .version = version,
                             .best = best_,
                             .epochs_run = stopping_.num_epochs()};
  SEMRANK_RETURN_IF_ERROR(
      report_.SetState("published as " + summary.version_dir));
  return summary;
}

}  // namespace semrank
