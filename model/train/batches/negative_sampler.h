// Chooses the unclicked titles D- that the clicked one is told apart from
// (DSSM 3.3), for all pairs of a mini-batch.
//
//   uniform   J titles a pair, drawn from all distinct titles of the training
//             set, anew each time; never the clicked title, and none that was
//             clicked for the same query (ClickedTitles) unless kMaxDraws in
//             a row were.
//             When a batch would have more than kMaxDrawnTitles of them, its
//             pairs draw from so many that are drawn for the batch.
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
#include <numeric>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "model/base/random.h"
#include "model/text/featurizer.h"
#include "model/train/batches/clicked_titles.h"
#include "model/train/data/shown_titles.h"
#include "model/train/data/text_table.h"
#include "model/train/data/training_data.h"
#include "model/train/options/train_options.h"

namespace semrank {

// The texts of one step. Pair i is (queries[i], titles[i]); titles that were
// drawn beside them follow, each once.
struct MiniBatch {
  // What the numbers of the texts stand for; outlives the batch.
  const TextBags* bags = nullptr;
  std::vector<TextId> queries;
  std::vector<TextId> titles;
  // All pairs against the clicked titles of all. What is left out, the loss
  // sees by the numbers of the texts.
  bool all_titles = false;
  // Bag i: places in `titles` of pair i's clicked title, then of its
  // negatives, perhaps with repeats. With all_titles: of negatives beside
  // those alone; no bags = none. `counts` is not used.
  BagBatch candidates;

  // Of each pair, positive: its loss counts so often in the mean. Empty = 1.
  std::vector<float> weights;

  int num_pairs() const { return static_cast<int>(queries.size()); }
  int num_titles() const { return static_cast<int>(titles.size()); }
  float weight(int pair) const { return weights.empty() ? 1 : weights[pair]; }
  double total_weight() const {
    return weights.empty()
               ? num_pairs()
               : std::accumulate(weights.begin(), weights.end(), 0.0);
  }
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
  // Of the batch being made: where a title stands.
  absl::flat_hash_map<TextId, std::uint32_t> places_;
  std::vector<std::uint32_t> shifts_;
  std::vector<TextId> pool_;      // of the batch's uniform titles; empty = all
  std::vector<TextId> shuffled_;  // shown titles of a pair
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_BATCHES_NEGATIVE_SAMPLER_H_
