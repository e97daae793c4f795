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
#include "model/base/status_macros.h"
#include "model/cli/progress.h"
#include "model/data/text_pairs.h"
#include "model/nn/lexical_part.h"
#include "model/train/batches/in_memory_batches.h"
#include "model/train/run/make_trainer.h"
#include "model/train/run/step_loop.h"
#include "model/train/validation/lexical_fit.h"
#include "model/train/validation/trained_model.h"

namespace semrank {
namespace {

// Up to this number of queries a larger share of them is held out, so that w is
// not left to chance.
constexpr std::size_t kSmallSampleQueries = 1000;

// The share of the pairs that is held out by components, and once more by
// queries.
double HeldOutShare(const TrainingData& data) {
  const std::size_t num_queries = DistinctQueries(data.train_pairs).size();
  return num_queries <= kSmallSampleQueries ? 0.125 : 0.05;
}

// Removes the pairs to fit on from `data` while it lives.
class WithoutHeldOut {
 public:
  WithoutHeldOut(double share, std::uint64_t seed, TrainingData& data)
      : data_(data),
        all_(data.train_pairs),
        // The order matters: queries are held out of what the components leave.
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

// A run may have many epochs because its patience stops it; the pass has no
// patience.
constexpr int kMaxEpochs = 6;

// Options of the pass. The cosines of the towers, and so w, are after half the
// epochs nearly what they are after all of them.
TrainOptions OptionsOfPass(TrainOptions options) {
  options.epochs = std::min((options.epochs + 1) / 2, kMaxEpochs);
  return options;
}

absl::Status TrainOnePass(const TrainOptions& options, BatchSource& batches,
                          ModelTrainer& trainer, Communicator& communicator) {
  StepLoop steps(options, batches, trainer, communicator);
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

// The mean of the weights that fit each kind of held-out pairs.
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
  // is near 0; on new titles it is high. It is not known which of them a server
  // will see (TRAINING.md).
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
                           InMemoryBatches::Create(pass, data));
  SEMRANK_ASSIGN_OR_RETURN(const std::unique_ptr<ModelTrainer> trainer,
                           MakeTrainer(pass, data, pool, communicator));
  SEMRANK_RETURN_IF_ERROR(TrainOnePass(pass, *batches, *trainer, communicator));
  // All processes continue with the weight of rank 0, or fail with it.
  SEMRANK_ASSIGN_OR_RETURN(const double weight, OnRank0(communicator, [&] {
                             return Fit(options, data, rest.held_out(),
                                        trainer->Weights());
                           }));
  return BroadcastFromRank0(communicator, weight);
}

absl::StatusOr<double> FitLexicalWeightOfModel(
    const TrainOptions& options, const TrainingData& data,
    std::vector<TensorView> weights) {
  const std::span<const TextPair> held_out = data.valid_pairs;
  return Fit(options, data, {&held_out, 1}, std::move(weights));
}

}  // namespace semrank
