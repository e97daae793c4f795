// Mini-batches of a streaming data set. Its worker threads prepare the next
// batches (pairs, words, n-grams, bags, negatives) while the trainer uses one;
// they sleep when a few batches are ready.
//
//   Numbers   texts are numbered anew in each batch, which has its own bags.
//   Position  BeginEpoch in the middle of an epoch reads and drops the pairs
//             that precede it: the shuffle buffer is then the same, and the
//             expensive work is skipped.
//   Memory    a PairShuffler, and num_threads + 2 batches.
#ifndef SEMRANK_MODEL_TRAIN_BATCHES_STREAMING_BATCHES_H_
#define SEMRANK_MODEL_TRAIN_BATCHES_STREAMING_BATCHES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "model/base/mutex.h"
#include "model/base/random.h"
#include "model/data/pair_reader.h"
#include "model/train/batches/batch_source.h"
#include "model/train/batches/mini_batch.h"
#include "model/train/batches/shuffled_lines.h"
#include "model/train/data/streamed_data.h"
#include "model/train/data/training_data.h"
#include "model/train/options/train_options.h"

namespace semrank {

// The training pairs of a streaming data set in a different order each epoch.
//
//   Pairs    what LoadStreamedData has counted: usable, clicked and not held
//            out; with --clicks=repeat each as often as it was clicked.
//   Memory   the buffer (PairStream::shuffle_bytes) and one block.
//   Threads  one thread at a time calls.
class PairShuffler {
 public:
  // `data` is a streaming data set; both outlive the shuffler. Fails as
  // LineBlocks::Create.
  static absl::StatusOr<PairShuffler> Create(const TrainOptions& options,
                                             const TrainingData& data);

  void BeginEpoch(int epoch);
  // DataLoss when the files hold fewer pairs than were counted.
  absl::Status Next(ClickPair& pair);

 private:
  PairShuffler(const TrainOptions& options, const PairStream& stream,
               LineBlocks blocks);

  // False for a line that was not counted: bad, never clicked or held out.
  bool ParseTrainingPair(std::string_view line, ClickPair& pair) const;
  // Fills the buffer as far as lines go.
  absl::Status Fill();

  const TrainOptions& options_;
  const PairStream& stream_;
  TextHash hash_;
  LineBlocks blocks_;
  ShuffleBuffer buffer_;
  Random order_;
  // The next line to add, and how often.
  std::string_view next_line_;
  std::int64_t next_copies_ = 0;
  bool at_end_ = true;
  std::string line_;
};

class StreamingBatches : public BatchSource {
 public:
  // `options` are resolved and data.stream is not null; both outlive the
  // source. ResourceExhausted when an epoch would have too many pairs;
  // otherwise fails as PairShuffler::Create.
  static absl::StatusOr<std::unique_ptr<StreamingBatches>> Create(
      const TrainOptions& options, const TrainingData& data);
  ~StreamingBatches() override;

  std::int64_t num_pairs() const override { return num_pairs_; }
  std::int64_t num_batches() const override { return plan_.num_batches(); }
  absl::Status BeginEpoch(int epoch, std::int64_t first_batch) override;
  absl::StatusOr<const MiniBatch*> Next() override;

 private:
  // A batch that is being made, is ready or is in use. Batch number b is in
  // slot b % slots_.size().
  struct Slot {
    bool ready = false;
    absl::Status status;
    std::vector<ClickPair> pairs;
    std::optional<TextBags> bags;
    MiniBatch batch;
  };

  StreamingBatches(const TrainOptions& options, const TrainingData& data,
                   PairShuffler shuffler, int num_threads);

  void RunWorker();
  // Waits for a free slot. Returns the number of the next batch to make; -1
  // after the last one.
  std::int64_t WaitForRoom();
  absl::Status ReadPairsOf(std::int64_t batch, std::vector<ClickPair>& pairs)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(read_mutex_);
  void MakeBatch(std::int64_t index, Slot& slot) const;
  void StopWorkers();

  const TrainOptions& options_;
  const TrainingData& data_;
  std::int64_t num_pairs_;
  BatchPlan plan_;
  int num_threads_;
  int epoch_ = 0;
  std::vector<Slot> slots_;  // a slot belongs to one thread at a time

  Mutex read_mutex_;  // taken before mutex_
  PairShuffler shuffler_ ABSL_GUARDED_BY(read_mutex_);

  Mutex mutex_;
  CondVar changed_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::int64_t next_made_ ABSL_GUARDED_BY(mutex_) = 0;
  std::int64_t next_used_ ABSL_GUARDED_BY(mutex_) = 0;
  bool in_use_ ABSL_GUARDED_BY(mutex_) = false;  // batch next_used_ - 1

  std::vector<std::thread> workers_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_BATCHES_STREAMING_BATCHES_H_
