// The slice of a mini-batch that one of several processes embeds: a range of
// its pairs, and a range of the titles that were drawn for them. A single
// process embeds all.
#ifndef SEMRANK_MODEL_TRAIN_BATCHES_BATCH_SHARE_H_
#define SEMRANK_MODEL_TRAIN_BATCHES_BATCH_SHARE_H_

#include <cstdint>
#include <vector>

#include "model/train/batches/mini_batch.h"

namespace semrank {

struct Range {
  int first = 0;
  int last = 0;

  int size() const { return last - first; }
};

// Slice `index` of `count` slices of `whole`, whose sizes differ by at most 1.
Range SliceOf(Range whole, int index, int count);

struct BatchShare {
  Range pairs;  // their queries and clicked titles
  Range drawn;  // positions in MiniBatch::titles, after those of the pairs
};

BatchShare ShareOf(const MiniBatch& batch, int rank, int num_processes);

// Texts of a mini-batch and their positions in it, queries first, then titles.
// Positions do not depend on the process that embeds the text: dropout uses
// them.
struct PlacedTexts {
  std::vector<TextId> ids;
  std::vector<std::uint32_t> places;
  int num_queries = 0;

  void Clear();
  void AppendQueries(const MiniBatch& batch, const BatchShare& share);
  void AppendTitles(const MiniBatch& batch, const BatchShare& share);
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_BATCHES_BATCH_SHARE_H_
