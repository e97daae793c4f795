// Measures weights on what they were not trained on: the loss of held-out
// pairs, and the ranking measures of judged queries.
//
//   Loss     same loss and kind of negatives as in training, drawn once and
//            kept, so that epochs can be compared.
//   Ranking  of the documents of valid_docs, as semrank-eval does it.
//   Threads  one thread calls; the pool works.
#ifndef SEMRANK_MODEL_TRAIN_VALIDATION_VALIDATOR_H_
#define SEMRANK_MODEL_TRAIN_VALIDATION_VALIDATOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/base/bad_lines.h"
#include "model/base/thread_pool.h"
#include "model/eval/collection.h"
#include "model/eval/metrics.h"
#include "model/train/batches/mini_batch.h"
#include "model/train/data/training_data.h"
#include "model/train/options/train_options.h"
#include "model/train/towers/model_trainer.h"
#include "model/train/validation/validation_folds.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {

struct ValidationResult {
  std::optional<double> loss;           // mean a pair
  std::optional<MetricValues> metrics;  // means over the judged queries
  bool judged_by_loss = false;          // although there are metrics
  // Score() of each half, with --valid_halves.
  std::optional<FoldScores> folds = {};

  // What early stopping compares, higher is better: NDCG@10, or the loss,
  // negated. Nothing without validation.
  std::optional<double> Score() const;
};

class Validator {
 public:
  // The judged queries that `options` name; null if there are none.
  static absl::StatusOr<std::shared_ptr<const Collection>> ReadQueries(
      const DataOptions& options, BadLines& bad_lines);

  // `options` are resolved, `queries` from ReadQueries; `data` outlives the
  // validator. InvalidArgument when --valid_halves has too few queries.
  static absl::StatusOr<std::unique_ptr<Validator>> Create(
      const TrainOptions& options, const TrainingData& data,
      std::shared_ptr<const Collection> queries);

  // Cancelled after Ctrl-C.
  absl::StatusOr<ValidationResult> Validate(ModelTrainer& trainer,
                                            const v1::ModelConfig& config,
                                            ThreadPool& pool) const;

 private:
  Validator(const TrainOptions& options, const TrainingData& data,
            std::shared_ptr<const Collection> queries)
      : options_(options), data_(data), collection_(std::move(queries)) {}

  absl::Status DrawHalves();
  std::size_t DrawQueryHalves();
  void SampleBatches(std::span<const TextPair> pairs, std::uint8_t fold);
  absl::Status MeasureLoss(ModelTrainer& trainer,
                           ValidationResult& result) const;
  absl::Status MeasureRanking(const ModelTrainer& trainer,
                              const v1::ModelConfig& config, ThreadPool& pool,
                              ValidationResult& result) const;

  TrainOptions options_;
  const TrainingData& data_;
  std::vector<MiniBatch> batches_;
  // The half of each of batches_; 0 without --valid_halves.
  std::vector<std::uint8_t> batch_folds_;
  std::shared_ptr<const Collection> collection_;  // may be null
  std::vector<std::uint8_t> query_folds_;  // of each query of collection_
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_VALIDATION_VALIDATOR_H_
