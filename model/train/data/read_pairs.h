// Reads the clicked pairs of a training or validation set into memory.
#ifndef SEMRANK_MODEL_TRAIN_DATA_READ_PAIRS_H_
#define SEMRANK_MODEL_TRAIN_DATA_READ_PAIRS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/data/input_lines.h"
#include "model/data/text_pairs.h"
#include "model/data/text_table.h"
#include "model/train/options/train_options.h"

namespace semrank {

// A line of a click log, also one without a click.
struct ShownTitle {
  TextId query = 0;
  TextId title = 0;
  std::int64_t clicks = 0;
  std::int64_t impressions = 0;  // 0 = not given
};

// How often an epoch contains a pair with `clicks` clicks.
std::int64_t Repetitions(std::int64_t clicks, const LossOptions& loss);

struct ReadPairsOptions {
  // Null = pairs of any size. Otherwise ReadPairs returns OutOfRange as soon as
  // the pairs do not fit in this memory limit.
  const DataOptions* memory = nullptr;
  // Unless null, gets all lines, also those with 0 clicks.
  std::vector<ShownTitle>* shown = nullptr;
};

// All clicked pairs of `files`, at least one.
absl::StatusOr<std::vector<TextPair>> ReadPairs(
    const std::vector<std::string>& files, BadLines& bad_lines,
    TextInterner& texts, const ReadPairsOptions& options = {});

// The same for validation pairs. InvalidArgument as CheckDistinctTitles.
absl::StatusOr<std::vector<TextPair>> ReadValidPairs(
    const std::vector<std::string>& files, BadLines& bad_lines,
    TextInterner& texts);

// InvalidArgument unless the pairs have two different titles.
absl::Status CheckDistinctTitles(const std::vector<std::string>& files,
                                 const std::vector<TextPair>& pairs,
                                 const TextInterner& texts);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_DATA_READ_PAIRS_H_
