// Measures weights on data that they were not trained on: the loss of held-out
// pairs, and the ranking metrics of judged queries.
//
//   Loss     the same loss and kind of negatives as in training, drawn once, so
//            that epochs can be compared.
//   Ranking  of the documents of valid_docs, as semrank-eval does it.
//   Threads  one thread calls; the pool works.
#ifndef SEMRANK_MODEL_TRAIN_VALIDATION_VALIDATOR_H_
#define SEMRANK_MODEL_TRAIN_VALIDATION_VALIDATOR_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/base/thread_pool.h"
#include "model/data/collection.h"
#include "model/data/input_lines.h"
#include "model/eval/metrics/metrics.h"
#include "model/train/batches/mini_batch.h"
#include "model/train/data/training_data.h"
#include "model/train/options/train_options.h"
#include "model/train/towers/model_trainer.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {

// The two halves of the validation data, for 2-fold cross-validation: settings
// are chosen on one half and measured on the other, and vice versa, as the
// papers do (DSSM 4.1, CLSM 5.1).
inline constexpr int kNumFolds = 2;

// A mean over the queries (loss: the pairs) of one half.
struct FoldScore {
  double score = 0;   // higher is better: NDCG@10, or the loss, negated
  double weight = 0;  // how many it is the mean of
  friend bool operator==(const FoldScore&, const FoldScore&) = default;
};

using FoldScores = std::array<FoldScore, kNumFolds>;

// Means of scores, for each half.
class FoldMeans {
 public:
  // `score` is a mean of `weight` queries or pairs of that half.
  void Add(int fold, double score, double weight) {
    sums_[fold] += score * weight;
    weights_[fold] += weight;
  }
  // All() and Folds() need at least one score in each half.
  double All() const {
    return (sums_[0] + sums_[1]) / (weights_[0] + weights_[1]);
  }
  FoldScores Folds() const {
    return {{{sums_[0] / weights_[0], weights_[0]},
             {sums_[1] / weights_[1], weights_[1]}}};
  }

 private:
  std::array<double, kNumFolds> sums_ = {};
  std::array<double, kNumFolds> weights_ = {};
};

// The half, 0 or 1, of each of `count` items; their sizes differ by at most
// one. The seed decides.
std::vector<std::uint8_t> DrawFolds(std::size_t count, std::uint64_t seed);

struct ValidationResult {
  std::optional<double> loss;           // mean a pair
  std::optional<MetricValues> metrics;  // means over the judged queries
  double ndcg_error = 0;                // standard error of NDCG@10
  EpochMeasure measure = EpochMeasure::kNdcg;
  // Score() of each half, with --valid_halves.
  std::optional<FoldScores> folds = {};

  // The measure, higher is better: NDCG@10, or the loss, negated. Nothing
  // without validation, or where the last epoch is published anyway.
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

  // Returns Cancelled after Ctrl-C.
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
