// Statistics of the training pairs for the report: counts, and the lengths of
// queries and titles (CLSM 2014, figure 2).
#ifndef SEMRANK_MODEL_TRAIN_DATA_DATA_STATISTICS_H_
#define SEMRANK_MODEL_TRAIN_DATA_DATA_STATISTICS_H_

#include <array>
#include <cstdint>
#include <string_view>

namespace semrank {

// The number of texts of each number of words.
class LengthHistogram {
 public:
  // Texts of kMaxWords words or more share the last bin.
  static constexpr int kMaxWords = 30;

  // `text` is normalised: words with one blank between them.
  void Add(std::string_view text);

  std::int64_t num_texts() const { return num_texts_; }
  // The share of the texts that have `words` words, 0 <= words <= kMaxWords.
  double Share(int words) const;
  double MeanWords() const;

 private:
  std::array<std::int64_t, kMaxWords + 1> bins_ = {};
  std::int64_t num_texts_ = 0;
  std::int64_t num_words_ = 0;
};

struct DataStatistics {
  std::int64_t train_pairs = 0;
  std::int64_t valid_pairs = 0;
  std::int64_t clicks = 0;  // of the training pairs
  // Lines that were skipped so far.
  std::int64_t bad_lines = 0;
  std::int64_t features = 0;
  // Distinct texts of the training pairs. When pairs are streamed, a text
  // counts as often as it occurs.
  bool distinct_texts = true;
  LengthHistogram queries;
  LengthHistogram titles;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_DATA_DATA_STATISTICS_H_
