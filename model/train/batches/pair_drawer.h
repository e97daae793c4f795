// The training pairs of a streamed click log, in an order of its own for each
// epoch: blocks of the files in random order, through a shuffle buffer.
//
//   Pairs    those that counting has counted: usable, clicked, not held out;
//            with --clicks=repeat as often as clicked.
//   Memory   the buffer (ShareForShuffling) and one block.
//   Threads  one drawer, one thread at a time.
#ifndef SEMRANK_MODEL_TRAIN_BATCHES_PAIR_DRAWER_H_
#define SEMRANK_MODEL_TRAIN_BATCHES_PAIR_DRAWER_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/train/batches/line_blocks.h"
#include "model/train/batches/shuffle_buffer.h"
#include "model/train/data/pair_reader.h"
#include "model/train/data/streamed_data.h"

namespace semrank {

class PairDrawer {
 public:
  // Of data.stream; both outlive the drawer. Fails as ShareForShuffling and
  // LineBlocks.
  static absl::StatusOr<PairDrawer> Create(const TrainOptions& options,
                                           const TrainingData& data);

  void BeginEpoch(int epoch);
  // DataLoss when the files hold fewer pairs than were counted.
  absl::Status Draw(ClickPair& pair);

 private:
  PairDrawer(const TrainOptions& options, const PairStream& stream,
             LineBlocks blocks, std::int64_t buffer_bytes);

  // Fills the buffer as far as lines go.
  absl::Status Fill();

  const TrainOptions& options_;
  const PairStream& stream_;
  TextHash hash_;
  LineBlocks blocks_;
  ShuffleBuffer buffer_;
  Random order_;
  // The line to go in next, and how often.
  std::string_view next_line_;
  std::int64_t next_copies_ = 0;
  bool at_end_ = true;
  std::string line_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_BATCHES_PAIR_DRAWER_H_
