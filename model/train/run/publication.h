// The end of a training run: clicks judge its best weights beside the served
// model, which publishes or rejects them.
//
//   Threads  one thread calls; the pool works.
#ifndef SEMRANK_MODEL_TRAIN_RUN_PUBLICATION_H_
#define SEMRANK_MODEL_TRAIN_RUN_PUBLICATION_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/base/thread_pool.h"
#include "model/train/data/training_data.h"
#include "model/train/options/train_options.h"
#include "model/train/report/training_log.h"
#include "model/train/report/training_report.h"
#include "model/train/run/training_state.h"
#include "model/train/validation/candidate_judgement.h"
#include "model/train/validation/ranker_comparison.h"
#include "model/train/validation/validator.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {

enum class RunOutcome {
  kPublished,
  kRejected,   // the model is in rejected/, the served one stays
  kUnchanged,  // too few clicks judge: nothing was trained
};

// How semrank-train ends for a model that is worse than the served one.
inline constexpr int kExitRejected = 4;
struct TrainingSummary {
  RunOutcome outcome = RunOutcome::kPublished;
  std::string reason = "";  // of an outcome that is not a publication
  // The model beside the served one, with --publish=if_better.
  std::optional<CandidateJudgement> judgement = std::nullopt;
  std::string version_dir = "";  // of the model
  std::int64_t version = 0;
  EpochRecord best = {};
  int epochs_run = 0;
  std::int64_t skipped_lines = 0;  // bad ones of all files
  std::string model_dir = "";
  // Validation of the weights that the run began from; none without validation.
  std::optional<ValidationResult> before_training = std::nullopt;
  // The published model beside BM25; none without validation.
  std::optional<RankerComparison> comparison = std::nullopt;
};

// {"outcome": "published", "rejected" or "unchanged", "reason": "...",
//  "judgement": [{"clicks": "new", "queries": 412, "lists": 9000, "candidate":
//  0.53, "served": 0.52, "delta": 0.01, "standard_error": 0.004, "p": 0.02}],
//  "fit": {"new": 0.5, "earlier": 0.52, "p": 0.3},
//  "version_dir": "models/shop/3", "version": 3, "epochs_run": 7,
//  "skipped_lines": 0, "best_epoch": {...},
//  "before_training": {"valid_loss": 5.1},
//  "comparison": {"queries": "held-out clicks" or "judged", "trial": true,
//  "num_queries": 120, "num_titles": 900, "bm25": {"ndcg@1": ...},
//  "letter_tfidf": {...}, "start": {...}, "model": {...}, "standard_errors":
//  {"bm25": {"ndcg@1": ...}, ...}},
//  "examples": [{"query": "...", "titles": [{"title": "...", "score": 0.7,
//  "relevant": true}]}]}, best_epoch as in training.jsonl; one line.
// before_training only with validation, comparison and examples with validation
// or a trial, start only with --init_from, reason only without a publication,
// judgement and fit only with --publish=if_better.
std::string FormatSummaryJson(const TrainingSummary& summary);

// Lines for people: how well the model ranks beside the baselines and how sure
// that is, what to expect of few pairs, the report, and the command that serves
// the model.
std::string DescribeResult(const TrainingSummary& summary);

// FailedPrecondition for a model of which RankerComparer::DescribeLoss said
// `loss`; the message names remedies. With --force it only prints a warning.
// Writes a checkpoint of `state`, from which --resume --force publishes; null
// before the first step.
absl::Status RefuseLoss(const TrainOptions& options, const std::string& loss,
                        TrainingState* state);

// Why the new clicks cannot judge a model of --publish=if_better; nullopt if
// they can.
std::optional<std::string> DescribeTooFewClicks(const TrainOptions& options,
                                                const TrainingData& data);

// With --publish=if_better, compares the best epoch with the model of
// --init_from as it is served, prints what the clicks say, and adds it to
// `report`, which has the model's configuration. Fails as LoadModel and
// JudgeCandidate.
absl::Status JudgeModel(const TrainOptions& options, const TrainingData& data,
                        const TrainingState& state, ThreadPool& pool,
                        ReportContent& report);

// `error` kept the model of `state` from being published. Writes a checkpoint,
// so that --resume can try it again; the error that is returned says so.
absl::Status NotPublished(const absl::Status& error, TrainingState& state);

// Writes the best epoch of `state`, learned from `data`, as the next version in
// options.data.model_dir; `config` is completed with what is known of the run,
// its options among it. A resumed run whose result was published before it was
// killed returns that version. Fails as NotPublished.
absl::StatusOr<TrainingSummary> PublishBest(const TrainOptions& options,
                                            v1::ModelConfig config,
                                            const TrainingData& data,
                                            TrainingState& state);

// As PublishBest, but into the folder "rejected" of the model directory, which
// keeps the newest three; `fault` says why. Completes `report`.
absl::StatusOr<TrainingSummary> Reject(const TrainOptions& options,
                                       const TrainingData& data,
                                       const std::string& fault,
                                       ReportContent& report,
                                       TrainingState& state);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_RUN_PUBLICATION_H_
