// Chooses the unclicked titles D- that each clicked title is compared with
// (DSSM 3.3), for all pairs of a mini-batch.
//
//   uniform   J titles a pair, drawn from all distinct titles of the training
//             set, anew each time; never the clicked title, and none that was
//             clicked for the same query (ClickedTitles) unless kMaxDraws in
//             a row were.
//             A batch that needs more than kMaxDrawnTitles of them draws that
//             many first, and its pairs draw from these.
//   shown     J titles that were shown for the same query and did worse
//             (ShownTitles), each at most once; where there are fewer, uniform
//             ones fill up.
//   in_batch  the titles of other pairs: J rotations of the batch, drawn anew
//             each time, or with J = 0 all of them. Left out is a title that
//             equals the clicked one or belongs to an equal query. Up to
//             hard_negatives shown ones stand beside them.
#ifndef SEMRANK_MODEL_TRAIN_BATCHES_NEGATIVE_SAMPLER_H_
#define SEMRANK_MODEL_TRAIN_BATCHES_NEGATIVE_SAMPLER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "model/base/random.h"
#include "model/train/batches/mini_batch.h"
#include "model/train/data/shown_titles.h"
#include "model/train/data/text_pairs.h"
#include "model/train/data/text_table.h"
#include "model/train/options/train_options.h"

namespace semrank {

// The titles that were clicked for each query: none of them is an unclicked
// one, D- (DSSM 3.3, CLSM 4.1), of another pair of that query. 4 bytes a pair
// and 4 a text; const after construction.
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

inline constexpr int kMaxDrawnTitles = 1 << 16;
inline constexpr int kMaxDraws = 16;

class NegativeSampler {
 public:
  // `titles` are distinct, at least two; in-batch sampling does not need them.
  // `shown` is needed where UsesShownTitles; it and `clicked` (null = only the
  // pair's own title is known to be) outlive the sampler.
  NegativeSampler(const LossOptions& options, std::span<const TextId> titles,
                  const ShownTitles* shown = nullptr,
                  const ClickedTitles* clicked = nullptr)
      : options_(options), titles_(titles), shown_(shown), clicked_(clicked) {}

  // Replaces `batch` but for its bags.
  void Sample(std::span<const TextPair> pairs, Random& random,
              MiniBatch& batch);

 private:
  void NumberTitles(const MiniBatch& batch);
  void ReserveLists(MiniBatch& batch) const;
  void DrawLists(Random& random, MiniBatch& batch);
  void DrawRotations(Random& random, MiniBatch& batch);
  void DrawPool(Random& random, int num_pairs);
  void AddUniform(int pair, int count, Random& random, MiniBatch& batch);
  TextId DrawUnclicked(TextId clicked_title,
                       std::span<const TextId> also_clicked, Random& random);
  int AddShown(int pair, int count, Random& random, MiniBatch& batch);
  void AddCandidate(TextId title, MiniBatch& batch);

  LossOptions options_;
  std::span<const TextId> titles_;
  const ShownTitles* shown_;
  const ClickedTitles* clicked_;
  // Position of each title in the batch being made.
  absl::flat_hash_map<TextId, std::uint32_t> places_;
  std::vector<std::uint32_t> shifts_;
  std::vector<TextId> pool_;  // titles of the batch to draw from; empty = all
  std::vector<TextId> shuffled_;  // shown titles of a pair
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_BATCHES_NEGATIVE_SAMPLER_H_
