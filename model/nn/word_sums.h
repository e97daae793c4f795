// The first layer of a tower of bags, word by word: the row of a word is the
// sum of the rows of W of its features, that of a text the sum of the rows of
// its words and bigrams (DSSM eq. 3, W2 l1, which is linear). A few thousand
// words make up most of all texts, so their rows are kept: one row to read in
// place of a word's eight, and neither n-grams to look up nor indices to sort.
//
//   Order    the features of a word by position, then words and bigrams as they
//            stand in the text. So the bits of a sum depend on the text alone,
//            not on which rows are kept. They differ by rounding from those of
//            SumBags for the text's bag, which adds in the order of indices.
//   Memory   `capacity_bytes` bounds the kept rows and their index, which take
//            memory as they fill. Nothing is evicted: a word that finds no room
//            is summed each time.
//   Threads  thread-safe. A look-up takes no lock; mutex_ is held while a new
//            row is copied.
#ifndef SEMRANK_MODEL_NN_WORD_SUMS_H_
#define SEMRANK_MODEL_NN_WORD_SUMS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/base/fingerprint.h"
#include "model/base/huge_pages.h"
#include "model/base/mutex.h"
#include "model/text/featurizer.h"
#include "model/text/word_fingerprint.h"

namespace semrank {

struct alignas(64) CacheLine {
  float values[16];
};

// Texts as lists of rows. Reused between batches; not thread-safe.
struct RowLists {
  // Text t: the sum of rows [offsets[t], offsets[t + 1]).
  std::vector<std::uint32_t> offsets = {0};
  std::vector<const float*> rows;
  // Rows of `rows` that lie nowhere else, one after the other.
  std::vector<CacheLine> computed;

  // Scratch of AppendTexts. Word i to be summed belongs at rows[to_sum[i].row]
  // and is the sum of feature_rows [feature_offsets[i], feature_offsets[i +
  // 1]).
  struct WordToSum {
    Fingerprint key;
    std::size_t row;
  };
  std::vector<WordToSum> to_sum;
  std::vector<std::uint32_t> feature_offsets;
  std::vector<const float*> feature_rows;
  std::vector<TextWord> words;
  std::vector<std::size_t> word_offsets;
  std::vector<std::uint32_t> features;

  int num_texts() const { return static_cast<int>(offsets.size()) - 1; }
  bool empty(int t) const { return offsets[t] == offsets[t + 1]; }
  // Removes all texts; keeps the memory.
  void Clear() {
    offsets.assign(1, 0);
    rows.clear();
  }
};

class WordSums {
 public:
  static constexpr std::size_t kDefaultCapacityBytes = std::size_t{16} << 20;

  // `table` [num_features, width] must outlive this and never change.
  WordSums(const float* table, int width,
           std::size_t capacity_bytes = kDefaultCapacityBytes);

  // Makes `lists`, which are clear, the lists of the rows whose sum is the
  // first layer of a text, for one normalised text after another until all are
  // done or the words to be summed fill the L2 cache. Returns the number of
  // texts appended, at least 1 of a span that is not empty. A text without
  // known features has no rows. `featurizer` is the same in each call and has
  // the table's features.
  std::size_t AppendTexts(const Featurizer& featurizer,
                          std::span<const std::string_view> normalized_texts,
                          RowLists& lists);

  // Words whose rows are kept.
  std::size_t num_kept() const {
    return num_kept_.load(std::memory_order_relaxed);
  }

 private:
  // Free until `lo`, which is written last, is not 0; constant from then on.
  struct Slot {
    std::atomic<std::uint64_t> lo = 0;
    std::uint64_t hi = 0;
    const float* row = nullptr;
  };
  std::size_t FirstPlace(const Fingerprint& word) const {
    // Fingerprints are uniform: their low bits need no further mixing.
    return word.hi & (slots_.size() - 1);
  }
  const float* TableRow(std::uint32_t index) const {
    return table_ + static_cast<std::size_t>(index) * width_;
  }
  // The rows of a word and of the bigram that ends with it.
  void AppendWord(const Featurizer& featurizer, const TextWord& word,
                  RowLists& lists);
  // The slot of `word`, or the one for it (linear probing), which was free when
  // it was read.
  struct Place {
    Slot& slot;
    bool is_kept;
  };
  Place Find(const Fingerprint& word);
  // The rows of a word that is not kept.
  void AppendFeatures(const Featurizer& featurizer, const TextWord& word,
                      RowLists& lists);
  // Sums all words of lists.to_sum, and keeps those that find room.
  void SumWords(RowLists& lists);
  void Keep(const Fingerprint& word, const float* row);

  const float* const table_;
  const std::size_t width_;
  const std::size_t row_lines_;
  const std::size_t max_kept_;
  // A power of two, at most half of them taken.
  HugePageVector<Slot> slots_;
  HugePageVector<CacheLine> rows_;
  Mutex mutex_;
  std::atomic<std::size_t> num_kept_ = 0;  // written under mutex_
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_NN_WORD_SUMS_H_
