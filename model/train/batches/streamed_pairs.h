// Mini-batches of pairs that stay on disk. Threads of its own draw the pairs
// of the batches to come and make them ready (words, n-grams, bags, negatives)
// while the trainer works; they sleep when a few batches are ready.
//
//   Numbers  texts are numbered anew in each batch, which has its own bags.
//   Position BeginEpoch in the middle of an epoch draws and drops the pairs
//            before it: the same buffer, without what is dear.
//   Memory   PairDrawer's, and the batches under way.
#ifndef SEMRANK_MODEL_TRAIN_BATCHES_STREAMED_PAIRS_H_
#define SEMRANK_MODEL_TRAIN_BATCHES_STREAMED_PAIRS_H_

#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "model/base/mutex.h"
#include "model/train/batches/batch_plan.h"
#include "model/train/batches/batch_source.h"
#include "model/train/batches/pair_drawer.h"

namespace semrank {

class StreamedPairs : public BatchSource {
 public:
  // As MakeBatchSource; data.stream is there. Fails as PairDrawer.
  static absl::StatusOr<std::unique_ptr<StreamedPairs>> Create(
      const TrainOptions& options, const TrainingData& data);
  ~StreamedPairs() override;

  std::int64_t num_pairs() const override { return num_pairs_; }
  std::int64_t num_batches() const override { return plan_.num_batches(); }
  absl::Status BeginEpoch(int epoch, std::int64_t first_batch) override;
  absl::StatusOr<const MiniBatch*> Next() override;

 private:
  // A batch on its way from the files to the trainer. Number b is in slot
  // b % slots_.size().
  struct Slot {
    bool ready = false;
    absl::Status status;
    std::vector<ClickPair> pairs;
    std::optional<TextBags> bags;
    MiniBatch batch;
  };

  StreamedPairs(const TrainOptions& options, const TrainingData& data,
                PairDrawer drawer, int num_threads);

  void RunWorker();
  // The number of the next batch to make, once there is room for it; -1 when
  // there is none.
  std::int64_t WaitForRoom();
  absl::Status DrawPairs(std::int64_t batch, std::vector<ClickPair>& pairs)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(draw_mutex_);
  void MakeBatch(std::int64_t index, Slot& slot) const;
  void StopWorkers();

  const TrainOptions& options_;
  const TrainingData& data_;
  std::int64_t num_pairs_;
  BatchPlan plan_;
  int num_threads_;
  int epoch_ = 0;
  std::vector<Slot> slots_;  // a slot belongs to one thread at a time

  Mutex draw_mutex_;  // taken before mutex_
  PairDrawer drawer_ ABSL_GUARDED_BY(draw_mutex_);

  Mutex mutex_;
  CondVar changed_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::int64_t next_made_ ABSL_GUARDED_BY(mutex_) = 0;
  std::int64_t next_used_ ABSL_GUARDED_BY(mutex_) = 0;
  bool in_use_ ABSL_GUARDED_BY(mutex_) = false;  // batch next_used_ - 1

  std::vector<std::thread> workers_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_BATCHES_STREAMED_PAIRS_H_
