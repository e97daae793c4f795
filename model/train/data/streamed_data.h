// A click log that does not fit in memory: one pass over it keeps what the
// passes that train need.
//
//   Vocabulary  as ChooseFeatures, but each line's texts count as often as
//               they occur; when there are more words than memory allows, the
//               rarest are dropped (not their letter n-grams), so a count may
//               then be too low.
//   Validation  a hash of a query decides whether it is held out; when these
//               pairs are more than memory allows, only the queries of the
//               lowest hashes are.
//   Titles      all distinct titles, or when memory does not allow that a
//               random sample of them, the titles of the lowest hashes. Uniform
//               negatives are drawn from it, and SSI counts idf and correlated
//               words in it (ssi_statistics.h says how well).
//   Threads     const after loading.
#ifndef SEMRANK_MODEL_TRAIN_DATA_STREAMED_DATA_H_
#define SEMRANK_MODEL_TRAIN_DATA_STREAMED_DATA_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "model/base/fingerprint.h"
#include "model/data/input_lines.h"
#include "model/train/data/training_data.h"
#include "model/train/options/train_options.h"

namespace semrank {

// The hash of a text, the same in every pass.
class TextHash {
 public:
  explicit TextHash(std::uint64_t seed);
  std::uint64_t operator()(std::string_view text) const;

 private:
  Fingerprinter fingerprinter_;
};

// As LoadTrainingData, but the training pairs stay on disk: `stream` of the
// result says how to find them again. ResourceExhausted when memory_limit is
// too small for that.
absl::StatusOr<TrainingData> LoadStreamedData(const TrainOptions& options,
                                              BadLines& bad_lines);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_DATA_STREAMED_DATA_H_
