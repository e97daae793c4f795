// Which settings of a grid are best, and how well choosing them that way does
// on queries that had no part in the choice.
//
// The epoch is chosen as the settings are: a candidate is a setting after a
// number of epochs.
#ifndef SEMRANK_MODEL_TRAIN_GRID_CHOICE_H_
#define SEMRANK_MODEL_TRAIN_GRID_CHOICE_H_

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "model/train/train_options.h"
#include "model/train/validation_folds.h"

namespace semrank {

// One setting, trained: the scores after each of its epochs. None when the
// loss grew beyond numbers: such a setting is never chosen.
struct GridRun {
  std::string setting;  // FormatSetting
  std::vector<FoldScores> epochs;

  bool diverged() const { return epochs.empty(); }
};

struct GridCandidate {
  std::size_t run = 0;  // index
  int epoch = 0;        // from 1
};

struct GridChoice {
  // Best over both halves: of equal ones the first.
  GridCandidate winner;
  // Best on half f, whose score on the other half is measured[f].
  std::array<GridCandidate, kNumFolds> chosen_on;
  std::array<FoldScore, kNumFolds> measured;

  // The cross-validated score: each query measured with what was chosen
  // without it.
  double cross_validated() const { return Combine(measured); }
};

// A whole search.
struct GridOutcome {
  std::vector<GridRun> runs;  // of the settings, in order
  GridChoice choice;
  EpochMeasure measure = EpochMeasure::kNdcg;
};

// At least one of `runs` has not diverged.
GridChoice ChooseByCrossValidation(std::span<const GridRun> runs);

// The epoch of a run, not diverged, that is best over both halves.
int BestEpoch(const GridRun& run);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_GRID_CHOICE_H_
