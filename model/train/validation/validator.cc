#include "model/train/validation/validator.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/base/interrupt.h"
#include "model/base/random.h"
#include "model/base/status_macros.h"
#include "model/eval/metrics/evaluate.h"
#include "model/eval/rankers/model_ranker.h"
#include "model/train/batches/mini_batch.h"
#include "model/train/batches/negative_sampler.h"
#include "model/train/validation/trained_model.h"

namespace semrank {
namespace {

using PairHalves = std::array<std::vector<TextPair>, kNumFolds>;

// All pairs of a query go to the same half.
PairHalves SplitByQuery(std::span<const TextPair> pairs, std::uint64_t seed) {
  const std::vector<TextId> queries = DistinctQueries(pairs);
  const std::vector<std::uint8_t> folds = DrawFolds(queries.size(), seed);
  PairHalves halves;
  for (const TextPair& pair : pairs) {
    const auto place =
        std::lower_bound(queries.begin(), queries.end(), pair.query);
    halves[folds[place - queries.begin()]].push_back(pair);
  }
  return halves;
}

// `pairs` and the training pairs of the same queries.
std::vector<TextPair> KnownClicks(std::span<const TextPair> pairs,
                                  std::span<const TextPair> train_pairs) {
  std::vector<TextPair> known(pairs.begin(), pairs.end());
  const std::vector<TextId> queries = DistinctQueries(pairs);
  for (const TextPair& pair : train_pairs) {
    // Files of --valid_pairs may have queries that are trained on, too.
    if (std::ranges::binary_search(queries, pair.query)) known.push_back(pair);
  }
  return known;
}

// A weight may be NaN although no pair of the training reads it.
bool AllFinite(const std::vector<TensorView>& tensors) {
  return std::ranges::all_of(tensors, [](const TensorView& tensor) {
    return std::ranges::all_of(
        tensor.values(), [](float value) { return std::isfinite(value); });
  });
}

}  // namespace

std::vector<std::uint8_t> DrawFolds(std::size_t count, std::uint64_t seed) {
  std::vector<std::uint8_t> folds(count);
  for (std::size_t i = 0; i < count; ++i) {
    // Equal halves first, then their order: a coin for each query would give
    // halves of different sizes.
    folds[i] = static_cast<std::uint8_t>(i % kNumFolds);
  }
  // Stream 0 decides which queries are held out; this one halves them.
  Random random(seed, RandomPurpose::kHeldOutQueries, /*index=*/1);
  Shuffle(random, folds);
  return folds;
}

std::optional<double> ValidationResult::Score() const {
  if (measure == EpochMeasure::kNdcg && metrics) return (*metrics)[kNdcgAt10];
  if (measure == EpochMeasure::kLoss && loss) return -*loss;
  return std::nullopt;
}

absl::StatusOr<std::shared_ptr<const Collection>> Validator::ReadQueries(
    const DataOptions& options, BadLines& bad_lines) {
  if (options.valid_queries.empty()) return nullptr;
  SEMRANK_ASSIGN_OR_RETURN(
      Collection collection,
      ReadCollection(
          {options.valid_docs, options.valid_queries, options.valid_qrels},
          bad_lines, options.normalizer_version));
  return std::make_shared<const Collection>(std::move(collection));
}

absl::StatusOr<std::unique_ptr<Validator>> Validator::Create(
    const TrainOptions& options, const TrainingData& data,
    std::shared_ptr<const Collection> queries) {
  // make_unique cannot reach the private constructor.
  std::unique_ptr<Validator> validator(
      new Validator(options, data, std::move(queries)));
  if (options.data.valid_halves) {
    SEMRANK_RETURN_IF_ERROR(validator->DrawHalves());
  } else {
    validator->SampleBatches(data.valid_pairs, /*fold=*/0);
  }
  return validator;
}

absl::Status Validator::DrawHalves() {
  const PairHalves halves = SplitByQuery(data_.valid_pairs, options_.seed);
  for (int f = 0; f < kNumFolds; ++f) {
    SampleBatches(halves[f], static_cast<std::uint8_t>(f));
  }
  // Each half needs a query that can be measured; a loss needs two titles.
  const bool enough = options_.early_stopping == EpochMeasure::kNdcg
                          ? DrawQueryHalves() >= kNumFolds
                          : std::ranges::all_of(halves, HasTwoTitles);
  if (enough) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "too few validation queries for the two halves of --valid_halves");
}

// Halves the queries that are measured, and returns their number.
std::size_t Validator::DrawQueryHalves() {
  std::vector<std::size_t> judged;
  // The evaluator skips queries without a relevant document, so only the others
  // are halved.
  for (std::size_t q = 0; q < collection_->queries.size(); ++q) {
    if (collection_->queries[q].HasRelevant()) judged.push_back(q);
  }
  const std::vector<std::uint8_t> folds =
      DrawFolds(judged.size(), options_.seed);
  query_folds_.resize(collection_->queries.size());
  for (std::size_t i = 0; i < judged.size(); ++i) {
    query_folds_[judged[i]] = folds[i];
  }
  return judged.size();
}

void Validator::SampleBatches(std::span<const TextPair> pairs,
                              std::uint8_t fold) {
  const BatchPlan plan(pairs.size(), options_.batch_size);
  // A pair stands here once and counts as often as it would be repeated.
  LossOptions loss = options_.loss;
  if (loss.clicks == v1::CLICK_USE_REPEAT) loss.clicks = v1::CLICK_USE_WEIGHT;
  // Titles that are clicked in the training pairs are not negatives either.
  const ClickedTitles clicked(KnownClicks(pairs, data_.train_pairs));
  NegativeSampler sampler(loss, data_.titles, &data_.shown, &clicked);
  for (std::int64_t b = 0; b < plan.num_batches(); ++b) {
    // Negatives are drawn once, so that the losses of all epochs are over the
    // same ones.
    Random random(options_.seed, RandomPurpose::kValidationNegatives,
                  batches_.size());
    MiniBatch& batch = batches_.emplace_back();
    // The batches have texts that exist already; nothing is mistyped
    // in validation.
    batch.bags = &data_.bags;
    sampler.Sample(plan.Batch(pairs, b), random, batch);
    batch_folds_.push_back(fold);
  }
}

absl::StatusOr<ValidationResult> Validator::Validate(
    ModelTrainer& trainer, const v1::ModelConfig& config,
    ThreadPool& pool) const {
  ValidationResult result;
  result.measure = options_.early_stopping;
  if (!batches_.empty()) {
    SEMRANK_RETURN_IF_ERROR(MeasureLoss(trainer, result));
  }
  if (collection_) {
    SEMRANK_RETURN_IF_ERROR(MeasureRanking(trainer, config, pool, result));
  }
  return result;
}

absl::Status Validator::MeasureLoss(ModelTrainer& trainer,
                                    ValidationResult& result) const {
  FoldMeans means;
  for (std::size_t b = 0; b < batches_.size(); ++b) {
    if (Interrupted()) return absl::CancelledError("interrupted");
    SEMRANK_ASSIGN_OR_RETURN(const double loss, trainer.Loss(batches_[b]));
    // A score is higher for better weights, so the loss is negated.
    means.Add(batch_folds_[b], -loss, batches_[b].total_weight());
  }
  result.loss = 0 - means.All();  // never "-0"
  if (options_.data.valid_halves) result.folds = means.Folds();
  return absl::OkStatus();
}

absl::Status Validator::MeasureRanking(const ModelTrainer& trainer,
                                       const v1::ModelConfig& config,
                                       ThreadPool& pool,
                                       ValidationResult& result) const {
  // NaN scores have no order, so any ranking could result.
  if (!AllFinite(trainer.Weights())) {
    result.metrics.emplace().fill(std::numeric_limits<double>::quiet_NaN());
    // scripts/experiments/tune.py compares numbers: the lowest NDCG.
    if (options_.data.valid_halves) result.folds = FoldScores{{{0, 1}, {0, 1}}};
    return absl::OkStatus();
  }
  SEMRANK_ASSIGN_OR_RETURN(auto model,
                           ViewAsModel(trainer.Weights(), config, data_));
  const ModelRanker ranker(std::move(model), collection_->documents, pool);
  EvaluateOptions options;
  if (options_.data.valid_judged_only) options.candidates = Candidates::kJudged;
  SEMRANK_ASSIGN_OR_RETURN(const Evaluation evaluation,
                           EvaluateRanker(ranker, *collection_, options, pool));
  result.metrics = evaluation.summary.mean;
  result.ndcg_error = evaluation.summary.standard_error[kNdcgAt10];
  if (!options_.data.valid_halves || result.measure == EpochMeasure::kLoss) {
    return absl::OkStatus();
  }
  FoldMeans means;
  for (const QueryEvaluation& query : evaluation.queries) {
    means.Add(query_folds_[query.query], query.metrics[kNdcgAt10], 1);
  }
  result.folds = means.Folds();
  return absl::OkStatus();
}

}  // namespace semrank
