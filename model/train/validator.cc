#include "model/train/validator.h"

#include <span>

#include "absl/status/status.h"
#include "model/base/interrupt.h"
#include "model/base/status_macros.h"
#include "model/eval/evaluate.h"
#include "model/eval/model_ranker.h"
#include "model/train/batch_plan.h"
#include "model/train/random.h"
#include "model/train/trained_model.h"

namespace semrank {

std::optional<double> ValidationResult::Score() const {
  if (metrics && !judged_by_loss) return (*metrics)[kNdcgAt10];
  if (loss) return -*loss;
  return std::nullopt;
}

absl::StatusOr<std::unique_ptr<Validator>> Validator::Create(
    const TrainOptions& options, const TrainingData& data,
    BadLines& bad_lines) {
  // make_unique cannot reach the private constructor.
  std::unique_ptr<Validator> validator(new Validator(options, data));
  validator->SampleBatches();
  if (!options.data.valid_queries.empty()) {
    SEMRANK_ASSIGN_OR_RETURN(
        validator->collection_,
        ReadCollection({options.data.valid_docs, options.data.valid_queries,
                        options.data.valid_qrels},
                       bad_lines));
  }
  return validator;
}

void Validator::SampleBatches() {
  const std::span<const TextPair> pairs = data_.valid_pairs;
  const BatchPlan plan(pairs.size(), options_.batch_size);
  // Here a pair stands once: it counts as often as it would be repeated.
  LossOptions loss = options_.loss;
  if (loss.clicks == v1::CLICK_USE_REPEAT) loss.clicks = v1::CLICK_USE_WEIGHT;
  NegativeSampler sampler(loss, data_.titles, &data_.shown);
  batches_.resize(plan.num_batches());
  for (std::size_t b = 0; b < batches_.size(); ++b) {
    batches_[b].bags = &data_.bags;
    Random random(options_.seed, RandomPurpose::kValidationNegatives, b);
    sampler.Sample(plan.Batch(pairs, b), random, batches_[b]);
  }
}

absl::StatusOr<ValidationResult> Validator::Validate(
    ModelTrainer& trainer, const v1::ModelConfig& config,
    ThreadPool& pool) const {
  ValidationResult result;
  result.judged_by_loss = options_.early_stopping == EpochMeasure::kLoss;
  if (!batches_.empty()) {
    double sum = 0, weight = 0;
    for (const MiniBatch& batch : batches_) {
      if (Interrupted()) return absl::CancelledError("interrupted");
      SEMRANK_ASSIGN_OR_RETURN(const double loss, trainer.Loss(batch));
      sum += loss * batch.total_weight();
      weight += batch.total_weight();
    }
    result.loss = sum / weight;
  }
  if (collection_) {
    SEMRANK_ASSIGN_OR_RETURN(result.metrics, Rank(trainer, config, pool));
  }
  return result;
}

absl::StatusOr<MetricValues> Validator::Rank(const ModelTrainer& trainer,
                                             const v1::ModelConfig& config,
                                             ThreadPool& pool) const {
  SEMRANK_ASSIGN_OR_RETURN(auto model,
                           ViewAsModel(trainer, config, data_.featurizer));
  const ModelRanker ranker(std::move(model), collection_->documents, pool);
  EvaluateOptions evaluate;
  evaluate.candidates =
      options_.data.valid_judged_only ? Candidates::kJudged : Candidates::kAll;
  SEMRANK_ASSIGN_OR_RETURN(
      const Evaluation evaluation,
      EvaluateRanker(ranker, *collection_, evaluate, pool));
  return evaluation.summary.mean;
}

}  // namespace semrank
