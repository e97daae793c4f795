// How --memory_limit is shared out.
//
//   Promise  nothing here depends on --threads, which may not change the order
//            of streamed pairs. What each thread has of its own (its stack; of
//            SSI 8 bytes a word) is part of the program.
#ifndef SEMRANK_MODEL_TRAIN_DATA_MEMORY_BUDGET_H_
#define SEMRANK_MODEL_TRAIN_DATA_MEMORY_BUDGET_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "model/train/options/train_options.h"

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

// Weights, their best epoch and the optimizer's state; of SSI also idf and
// correlated words. Fails as NumSsiParameters.
absl::StatusOr<std::int64_t> ModelBytes(const TrainOptions& options,
                                        int num_features);

// The flags that make such a model smaller, for messages.
std::string_view ModelSizeFlags(const TowerOptions& options);

// Of a stream of pairs, while the vocabulary is counted: words, drawn titles
// and validation pairs that are kept. Bytes are those of the functions below.
struct CountingBudget {
  std::int64_t word_bytes;
  std::int64_t max_titles;
  std::int64_t title_bytes;
  std::int64_t max_valid_pairs;
  std::int64_t valid_pair_bytes;
};
CountingBudget ShareForCounting(const TrainOptions& options);
// A counted word, or a text that is kept, with its bag and its places in
// tables.
std::int64_t CountedWordsBytes(std::int64_t num_words,
                               std::int64_t num_characters);
std::int64_t KeptTextBytes(std::size_t num_characters);

// OutOfRange when pairs in memory, the training of such a model and the program
// are more than a memory_limit that was given. Fails as ModelBytes.
absl::Status CheckFitsBesideModel(std::int64_t pair_bytes,
                                  const TrainOptions& options,
                                  int num_features);

// What remains for the shuffle buffer beside a model of so many features, its
// vocabulary, gradients that are kept, the batches under way and what counting
// has kept.
// ResourceExhausted when that is less than a sixteenth of the limit. Fails as
// ModelBytes.
absl::StatusOr<std::int64_t> ShareForShuffling(const TrainOptions& options,
                                               int num_features);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_DATA_MEMORY_BUDGET_H_
