// How --memory_limit is shared out.
#ifndef SEMRANK_MODEL_TRAIN_MEMORY_BUDGET_H_
#define SEMRANK_MODEL_TRAIN_MEMORY_BUDGET_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "model/train/train_options.h"

namespace semrank {

// Of this machine, in bytes.
std::int64_t PhysicalMemory();

// The most that this process has had in memory so far, in bytes; 0 where the
// system does not say.
std::int64_t PeakResidentMemory();

// The limit in bytes: the option's, or half of this machine's memory.
std::int64_t MemoryLimit(const DataOptions& options);

// What pairs of so many distinct texts, with so many characters together, take
// when all are in memory, while they are read and after.
std::int64_t PairBytes(std::int64_t num_pairs, std::int64_t num_texts,
                       std::int64_t num_characters);
// Whether pairs of that size are held in memory: they may take three quarters
// of the limit.
bool FitsInMemory(std::int64_t pair_bytes, const DataOptions& options);

// Weights, their best epoch and the optimizer's state.
std::int64_t ModelBytes(const TrainOptions& options, int num_features);

// Of a stream of pairs, while the vocabulary is counted: words, drawn titles
// and validation pairs that are kept.
struct CountingBudget {
  std::int64_t max_words;
  std::int64_t max_titles;
  std::int64_t max_valid_pairs;
};
CountingBudget ShareForCounting(const TrainOptions& options);

// What remains for the shuffle buffer beside a model of so many features, the
// batches under way and what counting has kept. ResourceExhausted when that is
// less than a sixteenth of the limit.
absl::StatusOr<std::int64_t> ShareForShuffling(const TrainOptions& options,
                                               int num_features);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_MEMORY_BUDGET_H_
