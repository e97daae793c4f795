// Divides the pairs of a run into those that it trains on, those that validate
// its epochs, and those that judge its model before it replaces the served one.
//
//   Order    pairs that judge leave first, then those that validate, so that
//            nothing else sees them. The pairs that the initial model has kept
//            (kept_pairs.h) follow those of the files.
//   Judge    options.data.judge_fraction of all queries there can be, by a hash
//            that is the same for all seeds: every run holds out the same ones.
//   Promise  the same files and options give the same split.
#ifndef SEMRANK_MODEL_TRAIN_DATA_PAIR_SPLIT_H_
#define SEMRANK_MODEL_TRAIN_DATA_PAIR_SPLIT_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/data/input_lines.h"
#include "model/data/text_pairs.h"
#include "model/data/text_table.h"
#include "model/train/data/position_weights.h"
#include "model/train/options/train_options.h"

namespace semrank {

struct PairSplit {
  std::vector<TextPair> train = {};
  // Pairs of --valid_pairs, or held out of the files; may be empty.
  std::vector<TextPair> valid = {};
  bool is_valid_held_out = false;
  // Pairs that judge: of the files, and those that the initial model has kept.
  std::vector<TextPair> judged_new = {};
  std::vector<TextPair> judged_earlier = {};
  // Pairs that the initial model has kept, of queries in `valid`. No epoch
  // trains on them.
  std::vector<TextPair> omitted = {};
  // How many of `train` the initial model has kept.
  std::int64_t num_earlier = 0;

  // The part of `valid` that this run must not train on.
  std::span<const TextPair> held_out() const {
    return is_valid_held_out ? valid : std::span<const TextPair>();
  }
};

// Splits `pairs`, which are those of the files. Pairs of `chance` are not added
// to them if the initial model has kept them. Holds out pairs only where two
// different titles are left. Says on standard error how many pairs the initial
// model adds, when it has learned most of `pairs` before, and when there are
// too few pairs to validate. InvalidArgument when the texts are of another
// language than the initial model. Fails as ReadValidPairs and ReadKeptPairs.
absl::StatusOr<PairSplit> SplitPairs(const TrainOptions& options,
                                     const PositionWeights& weights,
                                     std::vector<TextPair> pairs,
                                     std::span<const TextPair> chance,
                                     BadLines& bad_lines, TextInterner& texts);

// The file of the pairs that are kept with the model (kept_pairs.h). Pairs that
// are held out have the clicks of the files, or else those of the initial
// model.
std::string FormatPairsToKeep(const DataOptions& options,
                              const TextInterner& texts,
                              const PairSplit& split);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_DATA_PAIR_SPLIT_H_
