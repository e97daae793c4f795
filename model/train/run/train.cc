#include "model/train/run/train.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "model/base/status_macros.h"
#include "model/base/thread_pool.h"
#include "model/cli/output_paths.h"
#include "model/data/input_lines.h"
#include "model/train/batches/auto_loss_options.h"
#include "model/train/batches/in_memory_batches.h"
#include "model/train/batches/streaming_batches.h"
#include "model/train/data/load_training_data.h"
#include "model/train/data/memory_budget.h"
#include "model/train/report/run_files.h"
#include "model/train/report/training_log.h"
#include "model/train/run/checkpoint.h"
#include "model/train/run/epoch_loop.h"
#include "model/train/run/lexical_weight.h"
#include "model/train/run/make_trainer.h"
#include "model/train/run/training_state.h"
#include "model/train/validation/lexical_fit.h"
#include "model/train/validation/ranker_comparison.h"
#include "model/train/validation/trained_model.h"
#include "model/train/validation/validator.h"

namespace semrank {
namespace {

// What a process reads before its first step. The folder and its lock are the
// first members, so they are released last.
struct RunInputs {
  std::optional<OutputFolder> folder;  // of the first process
  std::unique_ptr<RunLock> lock;       // of the first process
  std::optional<TrainingData> data;
  std::shared_ptr<const Collection> valid_queries;  // may be null

  RunInputs() = default;
  RunInputs(RunInputs&&) = default;
  // A run that fails before its first report leaves only its log, which is of
  // no use alone. While the lock is held, no other run writes to the folder.
  ~RunInputs() {
    if (folder && lock) folder->RemoveIfAlone({kTrainingLogFile, kLockFile});
  }
};

// The objects of a run, beside its data.
struct RunContext {
  absl::Time start = absl::Now();
  ReportContent report;  // has the configuration
  std::unique_ptr<Validator> validator;
  std::unique_ptr<RankerComparer> comparer;  // of the validation data
  std::unique_ptr<BatchSource> batches;
  std::unique_ptr<TrainingLog> log;  // of the first process
  std::unique_ptr<Checkpoint> checkpoint;
};

// The first process alone validates and writes checkpoints. All of them read
// --valid_pairs: these decide which earlier pairs are added, and the numbers of
// the texts that follow them.
void ClearOptionsOfFirst(TrainOptions& options) {
  options.checkpoint = {.every = absl::ZeroDuration()};
  options.data.valid_queries.clear();
  options.data.valid_halves = false;
}

// Half of this machine's memory may be another limit than that of the run's
// first container, and then pairs that were in memory would be streamed. 0 if
// nothing is resumed. Only the first process sees the checkpoint.
std::int64_t LimitOfResumedRun(const TrainOptions& options,
                               Communicator& processes) {
  const std::int64_t limit =
      processes.is_first() && options.checkpoint.resume
          ? MemoryLimitOfCheckpoint(options.data.model_dir)
          : 0;
  // A double has every limit exactly: the flag ends at 2^50.
  return static_cast<std::int64_t>(
      processes.Broadcast(static_cast<double>(limit)));
}

// A model_dir that cannot be written to, or that another run writes to, is
// reported before hours of reading.
absl::StatusOr<RunInputs> ReadInputs(const TrainOptions& options, bool is_first,
                                     BadLines& bad_lines) {
  RunInputs inputs;
  if (is_first) {
    SEMRANK_ASSIGN_OR_RETURN(OutputFolder folder,
                             OutputFolder::Create(options.data.model_dir));
    inputs.folder.emplace(std::move(folder));
    SEMRANK_RETURN_IF_ERROR(CheckWritable(options.data.model_dir));
    SEMRANK_ASSIGN_OR_RETURN(inputs.lock,
                             RunLock::Acquire(options.data.model_dir));
  }
  // Every process reads all pairs: each takes its share of a mini-batch, which
  // may have any of them.
  SEMRANK_ASSIGN_OR_RETURN(inputs.data, LoadTrainingData(options, bad_lines));
  SEMRANK_ASSIGN_OR_RETURN(inputs.valid_queries,
                           Validator::ReadQueries(options.data, bad_lines));
  inputs.data->statistics.bad_lines = bad_lines.count();
  return inputs;
}

absl::StatusOr<std::unique_ptr<BatchSource>> MakeBatches(
    const TrainOptions& options, const TrainingData& data) {
  if (data.stream != nullptr) return StreamingBatches::Create(options, data);
  return InMemoryBatches::Create(options, data);
}

// What can fail because of options, files or the folder fails here, before the
// first step.
absl::StatusOr<RunContext> MakeContext(const TrainOptions& options,
                                       const RunInputs& inputs,
                                       std::vector<FlagValue> flags,
                                       const Communicator& processes) {
  const TrainingData& data = *inputs.data;
  SEMRANK_RETURN_IF_ERROR(CheckFitsThisMachine(
      options, data.featurizer.num_features(), processes.num_processes()));
  RunContext context;
  context.report = {.model_dir = options.data.model_dir,
                    .config = DescribeModel(options, data.featurizer),
                    .data = data.statistics,
                    .flags = std::move(flags)};
  data.position_weights.AddTo(*context.report.config.mutable_training());
  SEMRANK_ASSIGN_OR_RETURN(
      context.validator,
      Validator::Create(options, data, inputs.valid_queries));
  context.comparer = std::make_unique<RankerComparer>(
      options.data, inputs.valid_queries, data.held_out);
  SEMRANK_ASSIGN_OR_RETURN(context.batches, MakeBatches(options, data));
  // Only the first process writes; the others may have no such folder.
  if (processes.is_first()) {
    SEMRANK_ASSIGN_OR_RETURN(
        context.log,
        TrainingLog::Open(options.data.model_dir, data.statistics.bad_lines));
  }
  // The identity reads all files once more, for their fingerprints.
  std::string identity;
  if (options.checkpoint.enabled()) {
    SEMRANK_ASSIGN_OR_RETURN(identity,
                             DescribeRun(options, context.report.config));
  }
  context.checkpoint = std::make_unique<Checkpoint>(
      options.checkpoint, options.data.model_dir, std::move(identity));
  return context;
}

bool FitsLexicalWeight(const TrainOptions& options) {
  return !options.features.lexical_weight.has_value();
}

// The trial before the first epoch, or what stands for it: the weight is 0 if
// it is fitted after the last one. A resumed run takes weight and comparison of
// its checkpoint.
absl::StatusOr<LexicalTrial> FirstLexicalWeight(const TrainOptions& options,
                                                const Checkpoint& checkpoint,
                                                TrainingData& data,
                                                const Workers& workers) {
  if (!FitsLexicalWeight(options)) {
    return LexicalTrial{.weight = *options.features.lexical_weight};
  }
  if (data.stream != nullptr) return LexicalTrial();
  const bool resumes = workers.processes.is_first() &&
                       options.checkpoint.resume && checkpoint.Exists();
  if (workers.processes.Broadcast(resumes ? 1.0 : 0.0) == 1) {
    // The others need no weight until the history of the first is restored.
    const auto history = resumes ? checkpoint.ReadHistory() : std::nullopt;
    return LexicalTrial{.weight = history ? history->lexical_weight : 0};
  }
  return RunLexicalTrial(options, data, workers);
}

// The report says less after an error.
void MeasureBaselines(ThreadPool& pool, RunContext& context) {
  auto comparison = context.comparer->MeasureBaselines(pool);
  RunWarnings().WarnUnlessOk("no BM25 in the report", comparison.status());
  if (comparison.ok()) context.report.comparison = *std::move(comparison);
}

// Measures the model of --init_from, which the trainer has now, on the
// validation data.
absl::Status MeasureStart(const TrainOptions& options, const TrainingData& data,
                          double lexical_weight, ModelTrainer& trainer,
                          ThreadPool& pool, RunContext& context) {
  // Without queries the comparison is that of the trial, which has the start.
  if (options.initial_model.version_dir.empty() ||
      !context.comparer->has_queries() || !context.report.comparison) {
    return absl::OkStatus();
  }
  SEMRANK_ASSIGN_OR_RETURN(
      auto model,
      ViewAsModel(trainer.Weights(),
                  WithLexicalWeight(context.report.config, lexical_weight),
                  data));
  return context.comparer->AddStart(std::move(model), pool,
                                    *context.report.comparison);
}

// The best epoch on the validation data. Without any the comparison is that of
// the trial.
absl::Status MeasureModel(const TrainingData& data, const TrainingState& state,
                          const v1::ModelConfig& config, ThreadPool& pool,
                          RunContext& context) {
  if (!context.comparer->has_queries() || !context.report.comparison) {
    return absl::OkStatus();
  }
  SEMRANK_ASSIGN_OR_RETURN(
      auto model, ViewAsModel(state.best_weights().views(), config, data));
  return context.comparer->AddModel(std::move(model), pool,
                                    *context.report.comparison);
}

// FailedPrecondition for a trial that should not be followed by the run.
absl::Status CheckTrial(const TrainOptions& options, const LexicalTrial& trial,
                        RunContext& context) {
  // Judged queries, or validation pairs, say more at the end of the run.
  if (!trial.loss || context.comparer->has_queries()) return absl::OkStatus();
  absl::Status refused = RefuseLoss(options, *trial.loss, /*state=*/nullptr);
  if (!refused.ok()) {
    context.report.state = "not published: " + std::string(refused.message());
    RunWarnings().WarnUnlessOk("no report",
                               WriteReport(context.report, RunHistory()));
  }
  return refused;
}

// Why the model should not be served.
std::optional<std::string> FindFault(const RunContext& context) {
  const std::optional<CandidateJudgement>& judgement = context.report.judgement;
  const auto failure = judgement ? DescribeFailure(*judgement) : std::nullopt;
  return failure ? failure : context.comparer->DescribeLoss();
}

absl::StatusOr<TrainingSummary> Publish(const TrainOptions& options,
                                        const TrainingData& data, bool finished,
                                        ThreadPool& pool, RunContext& context,
                                        TrainingState& state) {
  ReportContent& report = context.report;
  // It is part of the history, so that a checkpoint of this run has it.
  double& lexical_weight = state.history().lexical_weight;
  if (FitsLexicalWeight(options) && data.stream != nullptr) {
    const auto fitted = FitLexicalWeight(options, data, data.valid_pairs,
                                         state.best_weights().views());
    if (!fitted.ok()) return NotPublished(fitted.status(), state);
    lexical_weight = *fitted;
  }
  report.config = WithLexicalWeight(report.config, lexical_weight);
  RunWarnings().WarnUnlessOk(
      "no rankings in the report",
      MeasureModel(data, state, report.config, pool, context));
  if (!context.comparer->has_queries()) {
    report.comparison = state.history().comparison;
  }
  // The served version may have been removed since the run began from it.
  const absl::Status judged = JudgeModel(options, data, state, pool, report);
  if (!judged.ok()) return NotPublished(judged, state);
  const std::optional<std::string> fault = FindFault(context);
  const bool rejects =
      fault && !options.force && options.publish == PublishMode::kIfBetter;
  if (fault && !rejects) {
    const absl::Status worth = RefuseLoss(options, *fault, &state);
    if (!worth.ok()) {
      report.state = "not published: " + std::string(worth.message());
      RunWarnings().WarnUnlessOk("no report",
                                 WriteReport(report, state.history()));
      return worth;
    }
  }
  TrainingSummary summary;
  if (rejects) {
    SEMRANK_ASSIGN_OR_RETURN(summary,
                             Reject(options, data, *fault, report, state));
  } else {
    SEMRANK_ASSIGN_OR_RETURN(summary,
                             PublishBest(options, report.config, data, state));
    report.version_dir = summary.version_dir;
    report.state = "published as " + summary.version_dir;
  }
  summary.comparison = report.comparison;
  summary.judgement = report.judgement;
  RunWarnings().WarnUnlessOk("no report", WriteReport(report, state.history()));
  // The model is published by now: a run that was killed before this line can
  // still be resumed. A run that was interrupted keeps its checkpoint.
  if (finished) state.RemoveCheckpoint();
  return summary;
}

// Makes the options explicit that depend on the data, so that the configuration
// of the model can be written.
absl::Status ChooseByData(TrainingData& data, Communicator& processes,
                          TrainOptions& options) {
  SEMRANK_RETURN_IF_ERROR(processes.Agree(KeepIdfOfStart(options, data)));
  options.loss.gamma = ChooseGamma(options, data);
  options.loss.logq = ChooseLogQ(options, data);
  options.loss.unaccented_queries = !data.unaccented.empty();
  options.early_stopping = ChooseEpochMeasure(options, data);
  // Processes with other data or flags would have batches of other sizes, and
  // wait for each other forever.
  return CheckSameRun(options, DescribeModel(options, data.featurizer),
                      processes);
}

}  // namespace

absl::StatusOr<TrainingSummary> Train(TrainOptions options,
                                      std::vector<FlagValue> flags,
                                      Communicator& processes) {
  if (!processes.is_first()) ClearOptionsOfFirst(options);

  options.data.resumed_memory_limit = LimitOfResumedRun(options, processes);
  BadLines bad_lines(options.data.max_bad_lines);
  SEMRANK_ASSIGN_OR_RETURN(
      RunInputs inputs,
      processes.Agree(ReadInputs(options, processes.is_first(), bad_lines)));
  TrainingData& data = *inputs.data;
  // Hosts may see different folders of events. A process that returned alone
  // would leave the others waiting.
  auto reason = DescribeTooFewClicks(options, data);
  SEMRANK_RETURN_IF_ERROR(
      processes.CheckSame(reason.has_value() ? 1 : 0, "training files"));
  if (reason) {
    return TrainingSummary{.outcome = RunOutcome::kUnchanged,
                           .reason = *std::move(reason),
                           .model_dir = options.data.model_dir};
  }
  SEMRANK_RETURN_IF_ERROR(ChooseByData(data, processes, options));
  SEMRANK_ASSIGN_OR_RETURN(RunContext context,
                           processes.Agree(MakeContext(
                               options, inputs, std::move(flags), processes)));

  ThreadPool pool(options.threads > 0 ? options.threads
                                      : NumUsableProcessors());
  const Workers workers(pool, processes);
  if (processes.is_first()) MeasureBaselines(pool, context);
  // The trial trains a model too, which is freed before that of the run is
  // made.
  SEMRANK_ASSIGN_OR_RETURN(
      const LexicalTrial trial,
      FirstLexicalWeight(options, *context.checkpoint, data, workers));
  SEMRANK_RETURN_IF_ERROR(processes.Agree(CheckTrial(options, trial, context)));
  if (!context.comparer->has_queries()) {
    context.report.comparison = trial.comparison;
  }
  SEMRANK_ASSIGN_OR_RETURN(std::unique_ptr<ModelTrainer> trainer,
                           MakeTrainer(options, data, workers));
  RunWarnings().WarnUnlessOk(
      "no rankings by --init_from in the report",
      MeasureStart(options, data, trial.weight, *trainer, pool, context));
  // State and loop come last: they have references to what is above.
  TrainingState state(options, std::move(trainer),
                      context.batches->num_batches(), *context.checkpoint,
                      processes);
  state.history().start = context.start;
  state.history().lexical_weight = trial.weight;
  state.history().comparison = trial.comparison;
  EpochLoop loop({.options = options,
                  .batches = *context.batches,
                  .validator = *context.validator,
                  .log = context.log.get(),
                  .report = context.report,
                  .state = state,
                  .workers = workers});
  SEMRANK_ASSIGN_OR_RETURN(const bool finished, loop.Run());
  return processes.OnFirst(
      [&] { return Publish(options, data, finished, pool, context, state); });
}

}  // namespace semrank
