#include "model/train/run/lexical_weight.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/cli/progress.h"
#include "model/data/text_pairs.h"
#include "model/train/batches/in_memory_batches.h"
#include "model/train/data/report_data.h"
#include "model/train/run/epoch_loop.h"
#include "model/train/run/make_trainer.h"
#include "model/train/validation/lexical_fit.h"
#include "model/train/validation/trained_model.h"

namespace semrank {
namespace {

// Up to this number of queries a larger share of them is held out, so that w is
// not left to chance.
constexpr std::size_t kSmallSampleQueries = 1000;

double HeldOutShare(const TrainingData& data) {
  const std::size_t num_queries = DistinctQueries(data.train_pairs).size();
  return num_queries <= kSmallSampleQueries ? 0.25 : 0.1;
}

// Removes the pairs of some queries from `data` while it lives.
class WithoutHeldOut {
 public:
  WithoutHeldOut(double share, std::uint64_t seed, TrainingData& data)
      : data_(data),
        // A copy: 16 bytes a pair while the trial lasts. The order of the
        // pairs, from which epochs are shuffled, comes back with it.
        all_(data.train_pairs),
        held_out_(HoldOutQueries(share, seed, data.train_pairs)) {}
  ~WithoutHeldOut() { data_.train_pairs = std::move(all_); }
  WithoutHeldOut(const WithoutHeldOut&) = delete;
  WithoutHeldOut& operator=(const WithoutHeldOut&) = delete;

  const std::vector<TextPair>& held_out() const { return held_out_; }

 private:
  TrainingData& data_;
  std::vector<TextPair> all_;
  std::vector<TextPair> held_out_;
};

// A run may have many epochs because its patience stops it; the trial has no
// patience.
constexpr int kMaxEpochs = 4;

TrainOptions OptionsOfTrial(TrainOptions options) {
  // A third, rounded up. The learning rate falls within these epochs, as it
  // depends on their number.
  options.epochs = std::min((options.epochs + 2) / 3, kMaxEpochs);
  return options;
}

absl::Status TrainForTrial(const TrainOptions& options, BatchSource& batches,
                           ModelTrainer& trainer, Communicator& processes) {
  StepLoop steps(options, batches, trainer, processes);
  ProgressBar bar("fitting the lexical weight",
                  options.epochs * batches.num_pairs(), "pairs");
  for (int epoch = 1; epoch <= options.epochs; ++epoch) {
    EpochSums sums;
    const std::int64_t before = (epoch - 1) * batches.num_pairs();
    const absl::Status status = steps.RunEpoch(
        epoch, sums, [&] { bar.Update(before + sums.num_pairs); });
    if (absl::IsCancelled(status)) {
      return absl::CancelledError(
          "interrupted while the lexical weight is fitted");
    }
    SEMRANK_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

// The weight that fits `held_out`, and the rankings of their queries by a model
// with it. `start`, which may be null, has the weights of --init_from.
absl::StatusOr<LexicalTrial> Measure(const TrainOptions& options,
                                     const TrainingData& data,
                                     const std::vector<TextPair>& held_out,
                                     ModelTrainer* start, ModelTrainer& trainer,
                                     ThreadPool& pool) {
  LexicalTrial trial;
  SEMRANK_ASSIGN_OR_RETURN(
      trial.weight,
      FitLexicalWeight(options, data, held_out, trainer.Weights()));
  const v1::ModelConfig config =
      WithLexicalWeight(DescribeModel(options, data.featurizer), trial.weight);
  // The comparison ranks by the fitted weight, as the published model will.
  RankerComparer comparer(
      options.data, /*judged=*/nullptr,
      MakeHeldOutCollection(*data.texts, held_out, data.served_titles(),
                            options.seed));
  SEMRANK_ASSIGN_OR_RETURN(trial.comparison, comparer.MeasureBaselines(pool));
  trial.comparison->trial = true;
  if (start != nullptr) {
    SEMRANK_ASSIGN_OR_RETURN(auto before,
                             ViewAsModel(start->Weights(), config, data));
    SEMRANK_RETURN_IF_ERROR(
        comparer.AddStart(std::move(before), pool, *trial.comparison));
  }
  SEMRANK_ASSIGN_OR_RETURN(auto after,
                           ViewAsModel(trainer.Weights(), config, data));
  SEMRANK_RETURN_IF_ERROR(
      comparer.AddModel(std::move(after), pool, *trial.comparison));
  trial.loss = comparer.DescribeLoss();
  return trial;
}

}  // namespace

absl::StatusOr<LexicalTrial> RunLexicalTrial(const TrainOptions& options,
                                             TrainingData& data,
                                             const Workers& workers) {
  const WithoutHeldOut rest(HeldOutShare(data), options.seed, data);
  // A softmax over a single title learns nothing.
  if (!HasTwoTitles(data.train_pairs)) {
    const double weight = LexicalPriorOf(options).weight;
    absl::FPrintF(stderr,
                  "too few pairs to fit the lexical weight, which is %g\n",
                  weight);
    return LexicalTrial{.weight = weight};
  }
  // The trial has a model of its own, which is dropped: towers that had learned
  // the held-out pairs would look better than they are, and w too low.
  const TrainOptions shorter = OptionsOfTrial(options);
  SEMRANK_ASSIGN_OR_RETURN(const std::unique_ptr<BatchSource> batches,
                           InMemoryBatches::Create(shorter, data));
  SEMRANK_ASSIGN_OR_RETURN(const std::unique_ptr<ModelTrainer> trainer,
                           MakeTrainer(shorter, data, workers));
  SEMRANK_RETURN_IF_ERROR(
      TrainForTrial(shorter, *batches, *trainer, workers.processes));
  std::unique_ptr<ModelTrainer> start;
  if (!options.initial_model.version_dir.empty()) {
    SEMRANK_ASSIGN_OR_RETURN(start, MakeTrainer(shorter, data, workers));
  }
  // All processes continue with the weight of the first, or fail with it.
  SEMRANK_ASSIGN_OR_RETURN(LexicalTrial trial, workers.processes.OnFirst([&] {
    return Measure(shorter, data, rest.held_out(), start.get(), *trainer,
                   workers.pool);
  }));
  // The others need the weight for their configuration; the comparison stays
  // with the first.
  trial.weight = workers.processes.Broadcast(trial.weight);
  return trial;
}

}  // namespace semrank
