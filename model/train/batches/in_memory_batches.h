// Mini-batches of an in-memory data set: a random permutation of its pairs in
// each epoch.
//
//   Memory   beside the pairs: 4 bytes a pair of an epoch, and ClickedTitles.
#ifndef SEMRANK_MODEL_TRAIN_BATCHES_IN_MEMORY_BATCHES_H_
#define SEMRANK_MODEL_TRAIN_BATCHES_IN_MEMORY_BATCHES_H_

#include <memory>
#include <vector>

#include "model/train/batches/batch_source.h"
#include "model/train/batches/mini_batch.h"
#include "model/train/batches/negative_sampler.h"
#include "model/train/data/training_data.h"
#include "model/train/options/train_options.h"

namespace semrank {

class InMemoryBatches : public BatchSource {
 public:
  // `options` are resolved; both outlive the source. ResourceExhausted when an
  // epoch would have too many pairs.
  static absl::StatusOr<std::unique_ptr<InMemoryBatches>> Create(
      const TrainOptions& options, const TrainingData& data);

  std::int64_t num_pairs() const override { return num_pairs_; }
  std::int64_t num_batches() const override { return plan_.num_batches(); }
  absl::Status BeginEpoch(int epoch, std::int64_t first_batch) override;
  absl::StatusOr<const MiniBatch*> Next() override;
  void PrepareNext() override;

 private:
  InMemoryBatches(const TrainOptions& options, const TrainingData& data,
                  std::int64_t num_pairs);
  void MistypeQueries();

  const TrainOptions& options_;
  const TrainingData& data_;
  std::int64_t num_pairs_;
  BatchPlan plan_;
  const ClickedTitles clicked_;
  NegativeSampler sampler_;
  int epoch_ = 0;
  std::int64_t next_batch_ = 0;
  std::vector<std::uint32_t> order_;  // of the epoch: indices of pairs
  std::vector<TextPair> pairs_;       // of the batch being made
  // MiniBatch::corrections by title; empty without --logq.
  std::vector<float> corrections_;
  MiniBatch batch_;  // what Next returned
  MiniBatch next_;
  // The bags of batch_ and next_ where queries are mistyped.
  std::unique_ptr<TextBags> bags_, next_bags_;
  bool is_next_made_ = false;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_BATCHES_IN_MEMORY_BATCHES_H_
