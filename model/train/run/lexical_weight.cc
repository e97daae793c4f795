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
#include "model/train/batches/in_memory_batches.h"
#include "model/train/run/epoch_loop.h"
#include "model/train/run/make_trainer.h"
#include "model/train/validation/lexical_fit.h"

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

}  // namespace

absl::StatusOr<double> FitLexicalWeightByTraining(const TrainOptions& options,
                                                  TrainingData& data,
                                                  const Workers& workers) {
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
                           MakeTrainer(pass, data, workers));
  SEMRANK_RETURN_IF_ERROR(
      TrainOnePass(pass, *batches, *trainer, workers.processes));
  // All processes continue with the weight of the first, or fail with it.
  SEMRANK_ASSIGN_OR_RETURN(const double weight, workers.processes.OnFirst([&] {
    return FitLexicalWeight(options, data, rest.held_out(), trainer->Weights());
  }));
  return workers.processes.Broadcast(weight);
}

}  // namespace semrank
