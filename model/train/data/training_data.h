// Everything a training run reads, in the form in which it is used: pairs of
// text numbers, and the bag or the words of each text.
//
//   Memory   about 24 bytes a pair and 5 a feature of each distinct text.
//   Threads  const after loading.
#ifndef SEMRANK_MODEL_TRAIN_DATA_TRAINING_DATA_H_
#define SEMRANK_MODEL_TRAIN_DATA_TRAINING_DATA_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/base/bad_lines.h"
#include "model/text/featurizer.h"
#include "model/train/data/data_statistics.h"
#include "model/train/data/pair_reader.h"
#include "model/train/data/shown_titles.h"
#include "model/train/data/text_table.h"
#include "model/train/options/train_options.h"

namespace semrank {

// A query and a title clicked for it.
struct TextPair {
  TextId query = 0;
  TextId title = 0;
  std::uint32_t clicks = 1;  // at least 1; more than fit are 2^32 - 1
  friend bool operator==(const TextPair&, const TextPair&) = default;
};

// Pairs that stay in their files, and are read anew in each epoch.
struct PairStream {
  std::int64_t num_pairs = 0;
  std::int64_t num_clicks = 0;  // of these pairs
  // Queries whose TextHash is lower are held out.
  std::uint64_t held_out_below = 0;
  TextInterner texts;  // those that TrainingData::bags numbers
};

struct TrainingData {
  Featurizer featurizer;
  TextBags bags;
  // In the order of the files. A pair that stands there twice counts twice.
  // Empty when they are streamed.
  std::vector<TextPair> train_pairs;
  // Of valid_pair_files, or held out by query; may be empty.
  std::vector<TextPair> valid_pairs;
  // Distinct titles of the training pairs, or a sample of them; at least two.
  std::vector<TextId> titles;
  // Hard negatives, where the loss wants them.
  ShownTitles shown;
  DataStatistics statistics;
  // Null when train_pairs holds the pairs.
  std::shared_ptr<const PairStream> stream;
};

// The pair with its texts as numbers.
TextPair InternPair(const ClickPair& pair, TextInterner& texts);
// As many clicks as TextPair::clicks holds.
std::uint32_t CappedClicks(std::int64_t clicks);
// How often a pair with so many clicks stands in an epoch.
std::int64_t Repetitions(std::int64_t clicks, const LossOptions& loss);

// All clicked pairs of `files`, at least one. `shown`, if not null, gets all
// lines, also those with 0 clicks. Stops with OutOfRange as soon as they do not
// fit in `memory`, if that is not null.
absl::StatusOr<std::vector<TextPair>> ReadPairs(
    const std::vector<std::string>& files, BadLines& bad_lines,
    TextInterner& texts, std::vector<ShownTitle>* shown = nullptr,
    const DataOptions* memory = nullptr);

// The same of validation pairs, which fail when all have one title.
absl::StatusOr<std::vector<TextPair>> ReadValidPairs(
    const std::vector<std::string>& files, BadLines& bad_lines,
    TextInterner& texts);

// Reads the pairs into memory, or, when they do not fit in memory_limit, what
// LoadStreamedData keeps. Fails when a file cannot be read, when too many lines
// are bad, when there is no pair, or when all titles are the same. Tells on
// standard error what was read. Cancelled after Ctrl-C.
absl::StatusOr<TrainingData> LoadTrainingData(const TrainOptions& options,
                                              BadLines& bad_lines);

// Takes the pairs of `fraction` of the distinct queries, at least one query,
// out of `pairs`, so that no query stands on both sides. The order of both is
// kept.
std::vector<TextPair> HoldOutQueries(double fraction, std::uint64_t seed,
                                     std::vector<TextPair>& pairs);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_DATA_TRAINING_DATA_H_
