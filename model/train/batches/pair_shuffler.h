// The training pairs of a streaming data set in a different order each epoch:
// blocks of the files in random order, through a shuffle buffer.
//
//   Pairs    what LoadStreamedData has counted: usable, clicked and not held
//            out; with --clicks=repeat each as often as it was clicked.
//   Memory   the buffer (PairStream::shuffle_bytes) and one block.
//   Threads  one thread at a time calls.
#ifndef SEMRANK_MODEL_TRAIN_BATCHES_PAIR_SHUFFLER_H_
#define SEMRANK_MODEL_TRAIN_BATCHES_PAIR_SHUFFLER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/base/random.h"
#include "model/data/pair_reader.h"
#include "model/train/batches/line_blocks.h"
#include "model/train/data/streamed_data.h"
#include "model/train/data/training_data.h"
#include "model/train/options/train_options.h"

namespace semrank {

// Shuffles a stream of lines in bounded memory: the caller keeps the buffer
// full, and each draw removes one of its lines at random.
//
//   Memory   at most capacity_bytes, including what the allocator adds; but one
//            line always fits, however long.
class ShuffleBuffer {
 public:
  explicit ShuffleBuffer(std::size_t capacity_bytes)
      : capacity_bytes_(capacity_bytes) {}

  bool empty() const { return lines_.empty(); }
  std::size_t num_lines() const { return lines_.size(); }
  std::size_t bytes() const { return bytes_; }

  // False, without a change, when there is no room.
  bool Add(std::string_view line);
  // Removes a random line and returns it in `line`; the buffer is not empty.
  void Draw(Random& random, std::string& line);
  // Removes all lines.
  void Clear();

 private:
  std::size_t capacity_bytes_;
  std::size_t bytes_ = 0;
  std::deque<std::string> lines_;  // grows without moving what it has
};

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

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_BATCHES_PAIR_SHUFFLER_H_
