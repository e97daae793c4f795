// What the report shows of the training data: counts, the lengths of queries
// and titles (CLSM 2014, figure 2), and held-out clicks to compare rankers on.
#ifndef SEMRANK_MODEL_TRAIN_DATA_REPORT_DATA_H_
#define SEMRANK_MODEL_TRAIN_DATA_REPORT_DATA_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "model/data/collection.h"
#include "model/data/text_pairs.h"
#include "model/data/text_table.h"

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
  // Distinct titles of --docs, and the share of them that the training pairs
  // have; 0 without it.
  std::int64_t catalogue_titles = 0;
  double known_share = 0;
  // Distinct texts of the training pairs. When pairs are streamed, a text
  // counts as often as it occurs.
  bool distinct_texts = true;
  LengthHistogram queries;
  LengthHistogram titles;
};

inline constexpr std::size_t kMaxHeldOutQueries = 1000;
inline constexpr std::size_t kMaxHeldOutTitles = 10'000;

// Held-out clicks as a judged collection, to rank with a model and a baseline:
// the titles that were clicked for a query are relevant, the others are not.
//
//   Size     at most kMaxHeldOutQueries random queries with their clicked
//            titles, and other random titles up to kMaxHeldOutTitles in all: a
//            ranker takes a second or two for it, whatever the click log.
//   Promise  the same arguments give the same collection.
//
// `titles` are those of the training pairs. Null without `held_out` pairs.
std::shared_ptr<const Collection> MakeHeldOutCollection(
    const TextInterner& texts, std::span<const TextPair> held_out,
    std::span<const TextId> titles, std::uint64_t seed);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_DATA_REPORT_DATA_H_
