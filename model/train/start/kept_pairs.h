// A bounded sample of the pairs that a model has learned from, kept in its
// version folder, so that a run that continues the model with new clicks also
// sees earlier ones: without them it unlearns what the new ones do not have.
//
//   Sample   the pairs of the lowest hashes. Each distinct pair has the same
//            probability, and the sample of two nights is the sample of their
//            samples.
//   File     kKeptPairsFile, lines query TAB title TAB clicks of normalised
//            texts, by hash; the tab before the further words of a text is
//            written as U+001F. Readers of models ignore it.
//   Threads  thread-safe.
#ifndef SEMRANK_MODEL_TRAIN_START_KEPT_PAIRS_H_
#define SEMRANK_MODEL_TRAIN_START_KEPT_PAIRS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/data/pair_reader.h"
#include "model/data/text_pairs.h"
#include "model/data/text_table.h"

namespace semrank {

inline constexpr char kKeptPairsFile[] = "pairs.tsv";

// The file of the sample of at most `max_pairs` of `pairs`; a pair that occurs
// twice counts once, with the sum of its clicks, corrected for their positions
// and rounded.
std::string FormatKeptPairs(const TextInterner& texts,
                            std::span<const TextPair> pairs,
                            std::int64_t max_pairs);

// The pairs that a version folder keeps, in the order of the file; none without
// the file. InvalidArgument for a file that is not a sample.
absl::StatusOr<std::vector<ClickPair>> ReadKeptPairs(
    const std::string& version_dir);

// How many of the distinct pairs of a run its start has learned from.
struct SeenPairs {
  // Pairs that the sample would have if the start had seen them.
  std::int64_t num_compared = 0;
  std::int64_t num_seen = 0;  // of these

  double Share() const {
    return num_compared == 0 ? 0 : static_cast<double>(num_seen) / num_compared;
  }
};
// `kept` are from ReadKeptPairs.
SeenPairs CountSeen(const std::vector<ClickPair>& kept,
                    const TextInterner& texts, std::span<const TextPair> pairs);

// Appends the kept pairs that are neither among `pairs` nor in `unwanted`, but
// for those whose query is one of `held_out`. Returns the latter.
std::vector<TextPair> AppendKept(const std::vector<ClickPair>& kept,
                                 std::span<const TextPair> held_out,
                                 std::span<const TextPair> unwanted,
                                 TextInterner& texts,
                                 std::vector<TextPair>& pairs);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_START_KEPT_PAIRS_H_
