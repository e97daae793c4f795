// What a run that continues a published model does with its pairs, and with
// the pairs that the model has kept (kept_pairs.h).
//
//   Threads  one thread calls.
#ifndef SEMRANK_MODEL_TRAIN_DATA_PAIR_SPLIT_H_
#define SEMRANK_MODEL_TRAIN_DATA_PAIR_SPLIT_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "model/data/text_pairs.h"
#include "model/data/text_table.h"
#include "model/train/options/train_options.h"

namespace semrank {

struct EarlierPairs {
  std::int64_t num_added = 0;
  // The kept pairs whose queries are held out. No epoch trains on them.
  std::vector<TextPair> omitted = {};
};

// Appends the pairs that the initial model has kept to `pairs`, which are those
// of the files without `held_out`. Says on standard error how many there are,
// and when the model has learned most of `pairs` before. InvalidArgument when
// the texts are of another language than the model. Does nothing without an
// initial model, and with one whose vocabulary does not grow.
absl::StatusOr<EarlierPairs> AddEarlierPairs(const TrainOptions& options,
                                             std::span<const TextPair> held_out,
                                             TextInterner& texts,
                                             std::vector<TextPair>& pairs);

// As HoldOutQueries, but a hash of the query decides, so that each run of the
// same seed holds out the same queries, whatever else its files have.
std::vector<TextPair> HoldOutQueriesByHash(double fraction, std::uint64_t seed,
                                           const TextInterner& texts,
                                           std::vector<TextPair>& pairs);

// Removes the pairs of the queries that every run holds out from `pairs`, and
// returns them: options.data.judge_fraction of all queries there can be, by a
// hash that is the same for all seeds. Removes nothing if fewer than two titles
// would be left.
std::vector<TextPair> HoldOutJudged(const DataOptions& options,
                                    const TextInterner& texts,
                                    std::vector<TextPair>& pairs);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_DATA_PAIR_SPLIT_H_
