#include "model/train/run/lexical_weight.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/interrupt.h"
#include "model/base/status_macros.h"
#include "model/cli/progress.h"
#include "model/data/text_pairs.h"
#include "model/nn/lexical_part.h"
#include "model/train/batches/make_batch_source.h"
#include "model/train/optimizer/parameter_optimizer.h"
#include "model/train/run/initial_model.h"
#include "model/train/run/training_state.h"
#include "model/train/validation/lexical_fit.h"
#include "model/train/validation/trained_model.h"

namespace semrank {
namespace {

// Few queries need a larger share of them, so that w is not left to chance.
constexpr std::size_t kFewQueries = 1000;

// Of the pairs, by components, and as much again of the queries.
double HeldOutShare(const TrainingData& data) {
  return DistinctQueries(data.train_pairs).size() <= kFewQueries ? 0.125 : 0.05;
}

// Takes the pairs to fit on out of `data` while it lives.
class WithoutHeldOut {
 public:
  WithoutHeldOut(double share, std::uint64_t seed, TrainingData& data)
      : data_(data),
        all_(data.train_pairs),
        // In this order: queries are held out of what the components have left.
        components_(HoldOutComponents(share, seed, data.train_pairs)),
        queries_(HoldOutQueries(share, seed, data.train_pairs)) {}
  ~WithoutHeldOut() { data_.train_pairs = std::move(all_); }
  WithoutHeldOut(const WithoutHeldOut&) = delete;
  WithoutHeldOut& operator=(const WithoutHeldOut&) = delete;

  // Pairs whose queries and titles are new to the towers, and pairs whose
  // queries are.
  std::array<std::span<const TextPair>, 2> held_out() const {
    return {components_, queries_};
  }

 private:
  TrainingData& data_;
  std::vector<TextPair> all_;
  std::vector<TextPair> components_;
  std::vector<TextPair> queries_;
};

// A run may have any number of epochs and be stopped by its patience, which the
// pass has not.
constexpr int kMaxEpochs = 6;

// Options of the pass. A shorter one leaves the cosines of the towers, and so
// w, nearly where the whole run does.
TrainOptions OptionsOfPass(TrainOptions options) {
  options.epochs = std::min((options.epochs + 1) / 2, kMaxEpochs);
  return options;
}

absl::Status TrainOnePass(const TrainOptions& options, BatchSource& batches,
                          ModelTrainer& trainer, Communicator& communicator) {
  const std::int64_t num_steps = options.epochs * batches.num_batches();
  ProgressBar bar("fitting the lexical weight",
                  options.epochs * batches.num_pairs(), "pairs");
  std::int64_t step = 0, num_pairs = 0;
  for (int epoch = 1; epoch <= options.epochs; ++epoch) {
    SEMRANK_RETURN_IF_ERROR(
        AgreeOnStatus(communicator, batches.BeginEpoch(epoch, 0)));
    for (;; ++step) {
      absl::StatusOr<const MiniBatch*> batch = absl::CancelledError(
          "interrupted while the lexical weight is fitted");
      if (!Interrupted()) batch = batches.Next();
      SEMRANK_RETURN_IF_ERROR(AgreeOnStatus(communicator, batch.status()));
      if (*batch == nullptr) break;
      num_pairs += (*batch)->num_pairs();
      SEMRANK_RETURN_IF_ERROR(
          trainer
              .Step(**batch,
                    {.learning_rate =
                         LearningRate(options.optimizer, step, num_steps),
                     .number = step,
                     .concurrent_work = [&batches] { batches.PrepareNext(); }})
              .status());
      bar.Update(num_pairs);
    }
  }
  return absl::OkStatus();
}

// The mean over the samples, each a kind of pairs, that are not empty.
absl::StatusOr<double> Fit(const TrainOptions& options,
                           const TrainingData& data,
                           std::span<const std::span<const TextPair>> held_out,
                           std::vector<TensorView> weights) {
  const v1::ModelConfig config = DescribeModel(options, data.featurizer);
  SEMRANK_ASSIGN_OR_RETURN(const auto model,
                           ViewAsModel(std::move(weights), config, data));
  SEMRANK_ASSIGN_OR_RETURN(
      const auto lexical,
      LexicalPart::Create({.idf = data.lexical_idf.data()}, nullptr));
  double sum = 0;
  int num_samples = 0;
  std::size_t num_pairs = 0;
  for (const std::span<const TextPair> sample : held_out) {
    if (sample.empty()) continue;
    const ScoredPairs pairs = ScoreHeldOutPairs({.texts = *data.texts,
                                                 .held_out = sample,
                                                 .titles = data.titles,
                                                 .seed = options.seed},
                                                *model, *lexical);
    sum += FitLexicalWeight(pairs);
    num_pairs += pairs.num_pairs();
    ++num_samples;
  }
  // On queries whose titles the pass knows the towers are at their best, and w
  // comes out near 0; on new titles it is high. Which of them a server will see
  // is not known (TRAINING.md).
  const double weight = num_samples == 0 ? 0 : sum / num_samples;
  absl::FPrintF(stderr, "lexical weight %.3f, fitted on %d held-out pairs\n",
                weight, num_pairs);
  return weight;
}

}  // namespace

absl::StatusOr<double> FitLexicalWeightByTraining(const TrainOptions& options,
                                                  TrainingData& data,
                                                  ThreadPool& pool,
                                                  Communicator& communicator) {
  const WithoutHeldOut rest(HeldOutShare(data), options.seed, data);
  if (!HasTwoTitles(data.train_pairs)) {
    absl::FPrintF(stderr,
                  "too few pairs to fit the lexical weight: the model has no "
                  "lexical part\n");
    return 0;
  }
  // The pass trains a model of its own, which is dropped: towers that had
  // learned the held-out pairs would look better than they are, and w too low.
  const TrainOptions pass = OptionsOfPass(options);
  SEMRANK_ASSIGN_OR_RETURN(const std::unique_ptr<BatchSource> batches,
                           MakeBatchSource(pass, data));
  const std::unique_ptr<ModelTrainer> trainer =
      MakeModelTrainer(pass, data, pool, communicator);
  if (!options.initial_model.version_dir.empty()) {
    SEMRANK_RETURN_IF_ERROR(AgreeOnStatus(
        communicator, CopyInitialWeights(options.initial_model, *trainer)));
  }
  SEMRANK_RETURN_IF_ERROR(TrainOnePass(pass, *batches, *trainer, communicator));
  // Only rank 0 fits; all processes continue with its weight, or fail with it.
  absl::StatusOr<double> weight = 0;
  if (communicator.is_rank0()) {
    weight = Fit(options, data, rest.held_out(), trainer->Weights());
  }
  SEMRANK_RETURN_IF_ERROR(AgreeOnStatus(communicator, weight.status()));
  return BroadcastFromRank0(communicator, *weight);
}

absl::StatusOr<double> FitLexicalWeightOfModel(
    const TrainOptions& options, const TrainingData& data,
    std::vector<TensorView> weights) {
  const std::span<const TextPair> held_out = data.valid_pairs;
  return Fit(options, data, {&held_out, 1}, std::move(weights));
}

}  // namespace semrank
