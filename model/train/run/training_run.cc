#include "model/train/run/training_run.h"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "model/base/status_macros.h"
#include "model/cli/interrupt.h"
#include "model/cli/progress.h"
#include "model/format/model_bundle.h"
#include "model/train/data/memory_budget.h"
#include "model/train/run/initial_model.h"
#include "model/train/run/published_result.h"
#include "model/train/run/tensor_fingerprint.h"
#include "model/train/ssi/ssi_trainer.h"
#include "model/train/ssi/ssi_weights.h"
#include "model/train/towers/two_tower_trainer.h"
#include "model/train/validation/trained_model.h"

namespace semrank {

namespace {

// The trainer of options.tower.kind, at its initial weights.
std::unique_ptr<ModelTrainer> MakeModelTrainer(const TrainOptions& options,
                                               const TrainingData& data,
                                               ThreadPool& pool,
                                               Communicator& communicator) {
  if (options.tower.kind == v1::TOWER_KIND_SSI) {
    return std::make_unique<SsiTrainer>(InitialSsiWeights(options, data),
                                        options, pool, communicator);
  }
  return std::make_unique<TwoTowerTrainer>(
      InitialTwoTowerWeights(options.tower, data.featurizer.num_features(),
                             options.seed),
      options, pool, communicator);
}

}  // namespace

TrainingRun::TrainingRun(const TrainOptions& options, const TrainingData& data,
                         BatchSource& batches, const Validator& validator,
                         TrainingLog& log, TrainingReport& report,
                         Checkpoint& checkpoint, Communicator& communicator)
    : options_(options),
      data_(data),
      batches_(batches),
      validator_(validator),
      log_(log),
      report_(report),
      checkpoint_(checkpoint),
      communicator_(communicator),
      config_(DescribeModel(options, data.featurizer)),
      pool_(options.threads > 0 ? options.threads : NumUsableProcessors()),
      trainer_(MakeModelTrainer(options, data, pool_, communicator)),
      stopping_(options.patience) {}

// A full disk must not cost the hours that a run has taken: it goes on.
void TrainingRun::Tell(const std::string& what, const absl::Status& status) {
  if (status.ok()) {
    told_.erase(what);
  } else if (told_.insert(what).second) {
    absl::FPrintF(stderr, "%s: %s; the run goes on\n", what,
                  std::string(status.message()));
  }
}

// The leader has the checkpoint; the others may not even see its folder.
absl::Status TrainingRun::Resume() {
  absl::StatusOr<RunProgress> progress = RunProgress();
  if (communicator_.is_leader()) {
    progress = checkpoint_.Restore(*trainer_, best_weights_);
  }
  SEMRANK_RETURN_IF_ERROR(Agree(communicator_, progress.status()));
  progress_ = *std::move(progress);
  SEMRANK_RETURN_IF_ERROR(TakeLeadersState());
  trainer_->Restored(NumSteps());
  for (const EpochRecord& record : progress_.epochs) Judge(record);
  resumed_ = true;
  log_.ContinueRun(progress_.start);
  report_.ContinueRun(progress_.start, progress_.epochs);
  absl::FPrintF(stderr, "going on from %s: epoch %d, %d of %d batches done\n",
                checkpoint_.path(), progress_.epoch(), progress_.num_batches,
                batches_.num_batches());
  return absl::OkStatus();
}

// All but the best epoch's weights, which only the leader publishes.
absl::Status TrainingRun::TakeLeadersState() {
  if (communicator_.num_processes() == 1) return absl::OkStatus();
  SEMRANK_ASSIGN_OR_RETURN(
      progress_,
      ParseProgress(FromLeader(communicator_, FormatProgress(progress_))));
  for (const StateTensor& tensor : trainer_->State()) {
    CopyFromLeader(communicator_, tensor.values);
  }
  return absl::OkStatus();
}

// From random weights, a model or a checkpoint.
absl::Status TrainingRun::Begin() {
  progress_.start = log_.run_start();
  if (!options_.initial_model.version_dir.empty()) {
    SEMRANK_RETURN_IF_ERROR(Agree(
        communicator_, CopyInitialWeights(options_.initial_model, *trainer_)));
  }
  const bool exists = communicator_.is_leader() && checkpoint_.Exists();
  const bool resumes = exists && options_.checkpoint.resume;
  if (FromLeader(communicator_, resumes ? 1 : 0) == 1) return Resume();
  if (exists) {
    absl::FPrintF(stderr,
                  "%s is of an unfinished run and will be replaced; --resume "
                  "would go on from it\n",
                  checkpoint_.path());
  }
  return absl::OkStatus();
}

absl::Status TrainingRun::RunEpochs() {
  SEMRANK_RETURN_IF_ERROR(Begin());
  SEMRANK_RETURN_IF_ERROR(CheckSameWeights("to begin with"));
  while (progress_.epoch() <= options_.epochs) {
    if (stopping_.ShouldStop()) {
      absl::FPrintF(stderr, "no improvement since epoch %d: stopping\n",
                    stopping_.best_epoch());
      break;
    }
    absl::StatusOr<EpochRecord> record = RunEpoch();
    if (absl::IsCancelled(record.status())) return Interrupt();
    if (!record.ok()) return record.status();
    FinishEpoch(*std::move(record));
  }
  finished_ = true;
  return absl::OkStatus();
}

// After Ctrl-C. OK when there is something to publish.
absl::Status TrainingRun::Interrupt() {
  WriteCheckpoint();
  const std::string advice =
      checkpoint_.IsOwn()
          ? absl::StrFormat("; --resume goes on from %s", checkpoint_.path())
          : "";
  if (progress_.epochs.empty()) {
    return absl::CancelledError(absl::StrFormat(
        "interrupted before the end of the first epoch; nothing is "
        "published%s",
        advice));
  }
  absl::FPrintF(stderr, "interrupted in epoch %d%s\n", progress_.epoch(),
                advice);
  return absl::OkStatus();
}

void TrainingRun::WriteCheckpoint() {
  if (!checkpoint_.enabled()) return;
  Tell("no checkpoint", checkpoint_.Write(progress_, *trainer_, best_weights_));
}

std::int64_t TrainingRun::NumSteps() const {
  return (progress_.epoch() - 1) * batches_.num_batches() +
         progress_.num_batches;
}

LearningRateSchedule TrainingRun::Schedule() const {
  return {options_.optimizer, options_.epochs * batches_.num_batches()};
}

absl::StatusOr<EpochRecord> TrainingRun::RunEpoch() {
  SEMRANK_RETURN_IF_ERROR(TrainOnAllPairs());
  EpochRecord record;
  record.epoch = progress_.epoch();
  record.num_pairs = progress_.num_pairs;
  record.train_loss = progress_.loss_sum / progress_.weight;
  if (options_.optimizer.gradient_clip_norm > 0) {
    record.gradient_norm = progress_.gradient_norm_sum /
                           static_cast<double>(progress_.num_batches);
  }
  record.seconds = progress_.seconds;
  record.learning_rate = Schedule().Rate(NumSteps() - 1);
  record.peak_memory_bytes = PeakResidentMemory();
  SEMRANK_RETURN_IF_ERROR(
      CheckSameWeights(absl::StrFormat("after epoch %d", record.epoch)));
  SEMRANK_RETURN_IF_ERROR(Agree(communicator_, Validate(record.validation)));
  const double score = FromLeader(
      communicator_, record.validation.Score().value_or(record.epoch));
  // What lets the others stop when the leader does.
  if (!communicator_.is_leader()) record.validation.loss = -score;
  return record;
}

// The leader alone.
absl::Status TrainingRun::Validate(ValidationResult& result) {
  if (!communicator_.is_leader()) return absl::OkStatus();
  SEMRANK_ASSIGN_OR_RETURN(result,
                           validator_.Validate(*trainer_, config_, pool_));
  return absl::OkStatus();
}

absl::Status TrainingRun::CheckSameWeights(std::string_view when) {
  if (communicator_.num_processes() == 1) return absl::OkStatus();
  return CheckSame(communicator_, TensorsFingerprint(trainer_->Weights()),
                   absl::StrFormat("weights %s (other flags or builds, or a "
                                   "fault of memory or network)",
                                   when));
}

// One pass in an order of its own, or what is left of it.
absl::Status TrainingRun::TrainOnAllPairs() {
  SEMRANK_RETURN_IF_ERROR(
      Agree(communicator_,
            batches_.BeginEpoch(progress_.epoch(), progress_.num_batches)));
  ProgressBar bar(
      absl::StrFormat("epoch %d/%d", progress_.epoch(), options_.epochs),
      batches_.num_pairs(), "pairs");
  const LearningRateSchedule schedule = Schedule();
  for (;;) {
    const auto start = std::chrono::steady_clock::now();
    SEMRANK_ASSIGN_OR_RETURN(const MiniBatch* batch, NextBatch());
    if (batch == nullptr) return absl::OkStatus();
    SEMRANK_RETURN_IF_ERROR(
        TakeStep(*batch, {.learning_rate = schedule.Rate(NumSteps()),
                          .number = NumSteps(),
                          .meanwhile = [this] { batches_.PrepareNext(); }}));
    progress_.seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
            .count();
    if (checkpoint_.IsDue()) WriteCheckpoint();
    bar.Update(
        progress_.num_pairs,
        absl::StrFormat("loss %.4f", progress_.loss_sum / progress_.weight));
  }
}

// Ctrl-C, and an error of reading, end all processes in the same step.
absl::StatusOr<const MiniBatch*> TrainingRun::NextBatch() {
  absl::StatusOr<const MiniBatch*> batch = absl::CancelledError("interrupted");
  if (!Interrupted()) batch = batches_.Next();
  SEMRANK_RETURN_IF_ERROR(Agree(communicator_, batch.status()));
  return batch;
}

absl::Status TrainingRun::TakeStep(const MiniBatch& batch,
                                   const StepContext& step) {
  SEMRANK_ASSIGN_OR_RETURN(const double loss, trainer_->Step(batch, step));
  if (!std::isfinite(loss)) {
    return absl::OutOfRangeError(absl::StrFormat(
        "the loss is no longer a number in batch %d of epoch %d; "
        "--learning_rate=%g is too high",
        progress_.num_batches + 1, progress_.epoch(),
        options_.optimizer.learning_rate));
  }
  progress_.loss_sum += loss * batch.total_weight();
  progress_.gradient_norm_sum += trainer_->gradient_norm();
  progress_.weight += batch.total_weight();
  progress_.num_pairs += batch.num_pairs();
  ++progress_.num_batches;
  return absl::OkStatus();
}

// True if `record` is the best epoch so far.
bool TrainingRun::Judge(const EpochRecord& record) {
  // Without validation every epoch is taken to be better than the last.
  if (!stopping_.Add(record.validation.Score().value_or(record.epoch))) {
    return false;
  }
  best_ = record;
  best_.best = true;
  return true;
}

void TrainingRun::FinishEpoch(EpochRecord record) {
  record.best = Judge(record);
  progress_.FinishEpoch(record);
  if (!communicator_.is_leader()) return;
  if (record.best) best_weights_.Assign(trainer_->Weights());
  absl::FPrintF(stderr, "%s\n", FormatEpochText(record));
  Tell("no line in the log", log_.Append(record));
  Tell("no report", report_.Append(record));
}

void TrainingRun::EndWithoutModel() {
  if (communicator_.is_leader()) {
    Tell("no report", report_.SetState("finished, not published"));
    Tell("the checkpoint stays", checkpoint_.Remove());
  }
}

absl::StatusOr<TrainingSummary> TrainingRun::Publish() {
  absl::StatusOr<TrainingSummary> summary =
      communicator_.is_leader() ? PublishBest() : TrainingSummary();
  SEMRANK_RETURN_IF_ERROR(Agree(communicator_, summary.status()));
  return summary;
}

absl::StatusOr<TrainingSummary> TrainingRun::PublishBest() {
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
  SEMRANK_ASSIGN_OR_RETURN(const std::int64_t version, PublishOnce());
  TrainingSummary summary = {.version_dir = (std::filesystem::path(model_dir) /
                                             absl::StrFormat("%d", version))
                                                .string(),
                             .version = version,
                             .best = best_,
                             .epochs_run = stopping_.num_epochs()};
  Tell("no report", report_.SetState("published as " + summary.version_dir));
  if (finished_) Tell("the checkpoint stays", checkpoint_.Remove());
  return summary;
}

// A run that was killed between publishing and removing its checkpoint comes
// here a second time.
absl::StatusOr<std::int64_t> TrainingRun::PublishOnce() {
  const std::string& model_dir = options_.data.model_dir;
  const ModelBundle bundle = {.config = config_,
                              .featurizer = &data_.featurizer,
                              .tensors = best_weights_.views()};
  if (resumed_) {
    if (const auto version = FindPublished(model_dir, bundle)) return *version;
  }
  const absl::StatusOr<std::int64_t> version = PublishModel(model_dir, bundle);
  if (version.ok()) return version;
  WriteCheckpoint();
  if (!checkpoint_.IsOwn()) return version.status();
  return absl::Status(
      version.status().code(),
      absl::StrFormat("the model could not be published: %s. Once that is "
                      "mended, --resume goes on from %s and publishes it",
                      version.status().message(), checkpoint_.path()));
}

}  // namespace semrank
