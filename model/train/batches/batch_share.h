// What one of several processes embeds of a mini-batch: a run of its pairs, and
// a run of the titles that were drawn beside them. A process alone has all.
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

// Part `index` of `count` about equal parts of [first, last).
Range PartOf(Range whole, int index, int count);

struct BatchShare {
  Range pairs;  // their queries and clicked titles
  Range drawn;  // places in MiniBatch::titles, behind those of the pairs
};

BatchShare ShareOf(const MiniBatch& batch, int process, int num_processes);

// Texts of a mini-batch and their places in it, which are the same whoever
// embeds them: queries first, then titles.
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
