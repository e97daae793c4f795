// Measures weights on what they were not trained on: the loss of held-out
// pairs, and the ranking measures of judged queries.
//
//   Loss     same loss and kind of negatives as in training, drawn once and
//            kept, so that epochs can be compared.
//   Ranking  of the documents of valid_docs, as semrank-eval does it.
//   Threads  one thread calls; the pool works.
#ifndef SEMRANK_MODEL_TRAIN_VALIDATOR_H_
#define SEMRANK_MODEL_TRAIN_VALIDATOR_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "model/base/bad_lines.h"
#include "model/base/thread_pool.h"
#include "model/eval/collection.h"
#include "model/eval/metrics.h"
#include "model/train/model_trainer.h"
#include "model/train/negative_sampler.h"
#include "model/train/train_options.h"
#include "model/train/training_data.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {

struct ValidationResult {
  std::optional<double> loss;           // mean a pair
  std::optional<MetricValues> metrics;  // means over the judged queries
  bool judged_by_loss = false;          // although there are metrics

  // What early stopping compares, higher is better: NDCG@10, or the loss,
  // negated. Nothing without validation.
  std::optional<double> Score() const;
};

class Validator {
 public:
  // Reads the judged queries, if the options name them. `data` outlives the
  // validator.
  static absl::StatusOr<std::unique_ptr<Validator>> Create(
      const TrainOptions& options, const TrainingData& data,
      BadLines& bad_lines);

  // Cancelled after Ctrl-C.
  absl::StatusOr<ValidationResult> Validate(ModelTrainer& trainer,
                                            const v1::ModelConfig& config,
                                            ThreadPool& pool) const;

 private:
  explicit Validator(const TrainOptions& options, const TrainingData& data)
      : options_(options), data_(data) {}

  void SampleBatches();
  absl::StatusOr<MetricValues> Rank(const ModelTrainer& trainer,
                                    const v1::ModelConfig& config,
                                    ThreadPool& pool) const;

  TrainOptions options_;
  const TrainingData& data_;
  std::vector<MiniBatch> batches_;
  std::optional<Collection> collection_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_VALIDATOR_H_
