// The titles that were clicked for each query: none of them is an unclicked
// one, D- (DSSM 3.3, CLSM 4.1), of another pair of that query.
//
//   Memory   4 bytes a pair, 4 a text.
//   Threads  const after construction.
#ifndef SEMRANK_MODEL_TRAIN_BATCHES_CLICKED_TITLES_H_
#define SEMRANK_MODEL_TRAIN_BATCHES_CLICKED_TITLES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "model/train/data/text_table.h"
#include "model/train/data/training_data.h"

namespace semrank {

class ClickedTitles {
 public:
  // No query has any.
  ClickedTitles() = default;
  explicit ClickedTitles(std::span<const TextPair> pairs);

  // Rising; each as often as the pair occurs.
  std::span<const TextId> Of(TextId query) const;

 private:
  // Of query q: [offsets_[q], offsets_[q + 1]).
  std::vector<std::uint32_t> offsets_;
  std::vector<TextId> titles_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_BATCHES_CLICKED_TITLES_H_
