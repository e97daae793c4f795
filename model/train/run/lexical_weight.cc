#include "model/train/run/lexical_weight.h"

#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/interrupt.h"
#include "model/base/status_macros.h"
#include "model/cli/progress.h"
#include "model/nn/lexical_part.h"
#include "model/train/batches/make_batch_source.h"
#include "model/train/data/text_pairs.h"
#include "model/train/optimizer/parameter_optimizer.h"
#include "model/train/run/initial_model.h"
#include "model/train/run/training_state.h"
#include "model/train/validation/lexical_fit.h"
#include "model/train/validation/trained_model.h"

namespace semrank {
namespace {

// Few queries need a larger share of them, so that w is not left to chance.
constexpr std::size_t kFewQueries = 1000;

double HeldOutShare(const TrainingData& data) {
  return DistinctQueries(data.train_pairs).size() <= kFewQueries ? 0.25 : 0.1;
}

// Takes the pairs of some queries out of `data` while it lives.
class WithoutHeldOut {
 public:
  WithoutHeldOut(double share, std::uint64_t seed, TrainingData& data)
      : data_(data),
        all_(data.train_pairs),
        held_out_(HoldOutQueries(share, seed, data.train_pairs)) {}
  ~WithoutHeldOut() { data_.train_pairs = std::move(all_); }
  WithoutHeldOut(const WithoutHeldOut&) = delete;
  WithoutHeldOut& operator=(const WithoutHeldOut&) = delete;

  std::span<const TextPair> held_out() const { return held_out_; }

 private:
  TrainingData& data_;
  std::vector<TextPair> all_;
  std::vector<TextPair> held_out_;
};

// Options of the pass. A shorter one leaves the cosines of the towers, and so
// w, nearly where the whole run does.
TrainOptions OptionsOfPass(TrainOptions options) {
  options.epochs = (options.epochs + 1) / 2;
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

absl::StatusOr<double> Fit(const TrainOptions& options,
                           const TrainingData& data,
                           std::span<const TextPair> held_out,
                           std::vector<TensorView> weights) {
  const v1::ModelConfig config = DescribeModel(options, data.featurizer);
  SEMRANK_ASSIGN_OR_RETURN(const auto model,
                           ViewAsModel(std::move(weights), config, data));
  SEMRANK_ASSIGN_OR_RETURN(
      const auto lexical,
      LexicalPart::Create({.idf = data.lexical_idf.data()}, nullptr));
  const ScoredPairs pairs = ScoreHeldOutPairs({.texts = *data.texts,
                                               .held_out = held_out,
                                               .titles = data.titles,
                                               .seed = options.seed},
                                              *model, *lexical);
  const double weight = FitLexicalWeight(pairs);
  absl::FPrintF(stderr, "lexical weight %.3f, fitted on %d held-out pairs\n",
                weight, pairs.num_pairs());
  return weight;
}

}  // namespace

absl::StatusOr<double> FitLexicalWeightByTraining(const TrainOptions& options,
                                                  TrainingData& data,
                                                  ThreadPool& pool,
                                                  Communicator& communicator) {
  const WithoutHeldOut rest(HeldOutShare(data), options.seed, data);
  if (DistinctTitles(data.train_pairs).size() < 2) {
    absl::FPrintF(stderr,
                  "too few pairs to fit the lexical weight: the model has no "
                  "lexical part\n");
    return 0;
  }
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
  return Fit(options, data, data.valid_pairs, std::move(weights));
}

}  // namespace semrank
