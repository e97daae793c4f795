#include "model/train/grid_choice.h"

namespace semrank {
namespace {

const FoldScores& At(std::span<const GridRun> runs,
                     const GridCandidate& candidate) {
  return runs[candidate.run].epochs[candidate.epoch - 1];
}

// The candidate whose score(FoldScores) is highest; of equal ones the first.
template <typename Score>
GridCandidate Best(std::span<const GridRun> runs, Score score) {
  GridCandidate best;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    for (std::size_t e = 0; e < runs[r].epochs.size(); ++e) {
      if (best.epoch == 0 || score(runs[r].epochs[e]) > score(At(runs, best))) {
        best = {r, static_cast<int>(e) + 1};
      }
    }
  }
  return best;
}

}  // namespace

GridChoice ChooseByCrossValidation(std::span<const GridRun> runs) {
  GridChoice choice;
  choice.winner = Best(runs, Combine);
  for (int f = 0; f < kNumFolds; ++f) {
    choice.chosen_on[f] =
        Best(runs, [f](const FoldScores& folds) { return folds[f].score; });
    choice.measured[f] = At(runs, choice.chosen_on[f])[kNumFolds - 1 - f];
  }
  return choice;
}

int BestEpoch(const GridRun& run) {
  return Best(std::span(&run, 1), Combine).epoch;
}

}  // namespace semrank
