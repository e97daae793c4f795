// The trial of a run with --lexical=auto: a shorter training without some of
// the queries, which fits the weight w of the model's lexical part
// (LexicalSpec) to them and measures how well the model ranks what it did not
// learn from. The model that is published learns from all pairs.
//
//   Split      holds out random queries with all their pairs: a tenth, or a
//              quarter if there are at most 1,000. A share of their titles is
//              known from other queries, as large as it will be in serving, so
//              w suits both known and new titles.
//   Length     a third of the epochs, at most 4: w is then what it is after
//              more of them (RESULTS.md).
//   Streaming  has no trial, because it would read the log twice: w is fitted
//              after the run, on the validation pairs.
//   Promise    the seed, the files and the flags decide w to the bit.
//   Processes  all of them call; the first fits and measures.
#ifndef SEMRANK_MODEL_TRAIN_RUN_LEXICAL_WEIGHT_H_
#define SEMRANK_MODEL_TRAIN_RUN_LEXICAL_WEIGHT_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "model/train/data/training_data.h"
#include "model/train/distributed/communicator.h"
#include "model/train/options/train_options.h"
#include "model/train/validation/ranker_comparison.h"

namespace semrank {

struct LexicalTrial {
  double weight = 0;
  // The first process has it; none if there are too few pairs.
  std::optional<RankerComparison> comparison = std::nullopt;
  // What RankerComparer::DescribeLoss says.
  std::optional<std::string> loss = std::nullopt;
};

// For data in memory. `data` has texts and lexical_idf, and is unchanged when
// this returns. Fails as StepLoop::RunEpoch.
absl::StatusOr<LexicalTrial> RunLexicalTrial(const TrainOptions& options,
                                             TrainingData& data,
                                             const Workers& workers);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_RUN_LEXICAL_WEIGHT_H_
