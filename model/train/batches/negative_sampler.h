// Chooses the unclicked titles D- that each clicked title is compared with
// (DSSM 3.3), for all pairs of a mini-batch.
//
//   clicked   no title that is known to be clicked for a query (ClickedTitles)
//             is a negative of its pairs, except one that `shown` says did
//             worse.
//   uniform   J titles a pair, drawn anew each time from all distinct titles of
//             the training set; fewer where kMaxDraws in a row were clicked for
//             the query. A batch that needs more than kMaxDrawnTitles of them
//             draws that many first, and its pairs draw from these.
//   shown     J titles that were shown for the same query and did worse
//             (ShownTitles), each at most once; where there are fewer, uniform
//             ones fill up.
//   in_batch  the titles of other pairs: J rotations of the batch, drawn anew
//             each time, or with J = 0 all of them, except those that were
//             clicked for the query (MiniBatch::masked). Up to hard_negatives
//             shown ones stand beside them, unless they are among them.
//   Threads  not thread-safe: one sampler, one thread at a time.
#ifndef SEMRANK_MODEL_TRAIN_BATCHES_NEGATIVE_SAMPLER_H_
#define SEMRANK_MODEL_TRAIN_BATCHES_NEGATIVE_SAMPLER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "model/base/random.h"
#include "model/data/text_pairs.h"
#include "model/data/text_table.h"
#include "model/train/batches/mini_batch.h"
#include "model/train/data/shown_titles.h"
#include "model/train/options/train_options.h"

namespace semrank {

inline constexpr int kMaxDrawnTitles = 1 << 16;
inline constexpr int kMaxDraws = 16;

class NegativeSampler {
 public:
  // `titles` are distinct, at least two; in-batch sampling does not need them.
  // `shown` is needed where UsesShownTitles. `clicked` has the pairs of every
  // batch; null = no others than those of the batch are known. Both outlive the
  // sampler.
  NegativeSampler(const LossOptions& options, std::span<const TextId> titles,
                  const ShownTitles* shown = nullptr,
                  const ClickedTitles* clicked = nullptr)
      : options_(options), titles_(titles), shown_(shown), clicked_(clicked) {}

  // Replaces `batch` except its bags.
  void Sample(std::span<const TextPair> pairs, Random& random,
              MiniBatch& batch);

 private:
  void NumberTitles(const MiniBatch& batch);
  std::span<const TextId> Clicked(TextId query) const;
  void MaskClicked(MiniBatch& batch);
  void AppendPositions(std::span<const TextId> clicked,
                       std::vector<std::uint32_t>& positions) const;
  void ReserveLists(MiniBatch& batch) const;
  void DrawLists(Random& random, MiniBatch& batch);
  void DrawRotations(Random& random, MiniBatch& batch);
  void DrawPool(Random& random, int num_pairs);
  void AddUniform(int pair, int count, Random& random, MiniBatch& batch);
  std::optional<TextId> DrawUnclicked(TextId own_title,
                                      std::span<const TextId> clicked,
                                      Random& random);
  int AddShown(int pair, int count, Random& random, MiniBatch& batch);
  bool IsInBatchNegative(int pair, TextId title, const MiniBatch& batch) const;
  void AddCandidate(TextId title, MiniBatch& batch);

  LossOptions options_;
  std::span<const TextId> titles_;
  const ShownTitles* shown_;
  const ClickedTitles* clicked_;
  // The rest belongs to the batch that is being made.
  ClickedTitles clicked_in_batch_;  // where clicked_ is null
  // First position of each title.
  absl::flat_hash_map<TextId, std::uint32_t> places_;
  // The clicked titles and their positions, in ascending order.
  std::vector<std::pair<TextId, std::uint32_t>> by_title_;
  absl::flat_hash_map<TextId, int> first_pairs_;  // of each query
  std::vector<std::uint32_t> shifts_;
  std::vector<TextId> pool_;  // titles of the batch to draw from; empty = all
  std::vector<TextId> shuffled_;  // shown titles of a pair
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_BATCHES_NEGATIVE_SAMPLER_H_
