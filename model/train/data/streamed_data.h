// A click log that does not fit in memory: one pass over it keeps what the
// passes that train need.
//
//   Vocabulary  as ChooseFeatures, but each line's texts count as often as
//               they occur; when there are more words than memory allows, the
//               rarest are dropped (not their letter n-grams), so a count may
//               then be too low.
//   Validation  a hash of a query decides whether it is held out; when these
//               pairs are more than memory allows, or than their use needs,
//               only the queries of the lowest hashes are.
//   Titles      all distinct titles, or when memory does not allow that a
//               random sample of them, the titles of the lowest hashes. Uniform
//               negatives are drawn from it, and SSI counts idf and correlated
//               words in it (ssi_weights.h says how well).
#ifndef SEMRANK_MODEL_TRAIN_DATA_STREAMED_DATA_H_
#define SEMRANK_MODEL_TRAIN_DATA_STREAMED_DATA_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/base/fingerprint.h"
#include "model/data/input_lines.h"
#include "model/data/text_pairs.h"
#include "model/data/text_table.h"
#include "model/text/vocabulary_builder.h"
#include "model/train/data/report_data.h"
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

// A uniform sample of the distinct titles of a click log, in bounded memory:
// the titles of the lowest hashes. Each distinct title has the same
// probability, however often it occurs; the sample has all titles while they
// fit.
//
//   Memory   KeptTextBytes of all titles, except that the first few always fit.
//   Threads  one sample, one thread.
class TitleSample {
 public:
  // This many titles are kept, whatever their size.
  static constexpr std::size_t kMinTitles = 16;

  TitleSample(std::int64_t max_titles, std::int64_t max_bytes)
      : max_titles_(static_cast<std::size_t>(max_titles)),
        max_bytes_(max_bytes) {}

  // `hash` is a function of the title.
  void Add(std::uint64_t hash, const std::string& title);

  // By hash.
  const std::map<std::uint64_t, std::string>& titles() const { return titles_; }
  // Whether these are all titles that were added.
  bool complete() const { return complete_; }
  // A title that was added is in the sample if its hash is not above this one.
  std::uint64_t highest_hash() const { return highest_; }

 private:
  bool IsFull() const;

  std::size_t max_titles_;
  std::int64_t max_bytes_;
  std::map<std::uint64_t, std::string> titles_;
  std::int64_t bytes_ = 0;
  std::uint64_t highest_ = std::numeric_limits<std::uint64_t>::max();
  bool complete_ = true;
};

// What the pass keeps of the files.
struct CountedLog {
  // Its texts are `titles`, then the texts of `held_out`.
  std::shared_ptr<PairStream> stream;
  std::vector<TextId> titles;
  std::uint64_t highest_title_hash = 0;  // as TitleSample's highest_hash
  std::vector<TextPair> held_out;
  VocabularyBuilder vocabulary;
  DataStatistics statistics;  // counts of the training pairs
};

// InvalidArgument when the titles are all the same.
absl::StatusOr<CountedLog> CountLog(const TrainOptions& options,
                                    const PositionWeights& weights,
                                    BadLines& bad_lines);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_DATA_STREAMED_DATA_H_
