// How a run keeps --memory_limit.
//
//   Planned   the choice between an in-memory and a streaming data set, and the
//             size of the shuffle buffer, decide the order of the pairs, and
//             with it the weights. They depend on options and files alone: on
//             what the pairs take, and on the exact size of the model.
//   Measured  everything else (mini-batches, activations, vocabulary, program).
//             CheckResidentMemory ends a run that exceeds its limit after its
//             first mini-batches, when all of it is allocated.
#ifndef SEMRANK_MODEL_TRAIN_DATA_MEMORY_BUDGET_H_
#define SEMRANK_MODEL_TRAIN_DATA_MEMORY_BUDGET_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/base/resources.h"
#include "model/train/options/train_options.h"

namespace semrank {

// The limit in bytes: the option's, or that of the run that is resumed, or half
// of the least of this machine's memory, that of its container, and what the
// shell allows the process (RLIMIT_AS).
std::int64_t MemoryLimit(const DataOptions& options,
                         const ControlGroups& groups = {});

// Bytes of pairs of `num_texts` distinct texts with `num_characters` in all, at
// their peak: while they are read, and with their bags.
std::int64_t PairBytes(std::int64_t num_pairs, std::int64_t num_texts,
                       std::int64_t num_characters);
// The bytes that pairs may take to be held in memory, kMaxPairShare of the
// limit. Reads the files of the container's limit, so a loop calls it once.
std::int64_t MaxPairBytes(const DataOptions& options);
// Checks them again once the size of the model is known, for a memory_limit
// that was given: OutOfRange when pairs, model, program and an eighth of the
// limit for mini-batches exceed it. Fails as ModelBytes.
absl::Status CheckFitsBesideModel(std::int64_t pair_bytes,
                                  const TrainOptions& options,
                                  int num_features);

// Bounds of what the counting pass over a streaming data set keeps.
struct CountingBudget {
  std::int64_t word_bytes;
  std::int64_t max_titles;
  std::int64_t title_bytes;
  std::int64_t max_valid_pairs;
  std::int64_t valid_pair_bytes;
};
CountingBudget ShareForCounting(const TrainOptions& options);
// Bytes of counted words, and of a text that is kept with its bag.
std::int64_t CountedWordsBytes(std::int64_t num_words,
                               std::int64_t num_characters);
std::int64_t KeptTextBytes(std::size_t num_characters);

// Bytes of the shuffle buffer: half of what model and program leave of the
// limit; the other half is for mini-batches and for what counting has kept.
// ResourceExhausted when that is less than a sixteenth of the limit. Fails as
// ModelBytes.
absl::StatusOr<std::int64_t> ShareForShuffling(const TrainOptions& options,
                                               int num_features);

// ResourceExhausted when weights, optimizer and gradients of one of
// `num_processes` need more memory than this machine has.
absl::Status CheckFitsThisMachine(const TrainOptions& options, int num_features,
                                  int num_processes);

// ResourceExhausted when this process, with `bytes_to_come`, exceeds a
// memory_limit that was given by more than a tenth. Limits below the size of
// the program, 64 MiB, bound the data alone and are not checked.
absl::Status CheckResidentMemory(const TrainOptions& options,
                                 std::int64_t bytes_to_come);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_DATA_MEMORY_BUDGET_H_
