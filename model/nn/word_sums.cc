// A text is a list of pointers to rows: kept rows in rows_, rows of the table
// for single features, and rows in lists.computed for words that are summed
// now. AppendTexts collects the last ones for several texts, with null in their
// places, and SumWords fills them in.
#include "model/nn/word_sums.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <optional>

#include "model/nn/kernels.h"

namespace semrank {
namespace {

// Texts whose words are looked up together. Each look-up may have to wait for
// memory, so all are prefetched before the first.
constexpr std::size_t kGroupTexts = 8;

// The number of words to sum from which on no further group begins.
constexpr std::size_t kMaxWordsToSum = 256;

std::size_t DivideUp(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

}  // namespace

WordSums::WordSums(const float* table, int width, std::size_t capacity_bytes)
    : table_(table),
      width_(static_cast<std::size_t>(width)),
      row_lines_(DivideUp(width_ * sizeof(float), sizeof(CacheLine))),
      // Rounded up to a power of two, there are at most four slots a row.
      max_kept_(capacity_bytes /
                (row_lines_ * sizeof(CacheLine) + 4 * sizeof(Slot))),
      slots_(std::bit_ceil(2 * max_kept_ + 1)),
      // mmap refuses a size of 0.
      rows_(std::max<std::size_t>(max_kept_, 1) * row_lines_) {}

std::size_t WordSums::AppendTexts(
    const Featurizer& featurizer,
    std::span<const std::string_view> normalized_texts, RowLists& lists) {
  lists.to_sum.clear();
  lists.feature_offsets.assign(1, 0);
  lists.feature_rows.clear();
  std::size_t next = 0;
  while (next < normalized_texts.size() &&
         lists.to_sum.size() < kMaxWordsToSum) {
    const auto group = normalized_texts.subspan(
        next, std::min(kGroupTexts, normalized_texts.size() - next));
    lists.words.clear();
    lists.word_offsets.assign(1, 0);
    for (const std::string_view text : group) {
      AppendTextWords(text, lists.words);
      lists.word_offsets.push_back(lists.words.size());
    }
    for (const TextWord& word : lists.words) {
      __builtin_prefetch(&slots_[FirstPlace(word.key)]);
      featurizer.PrefetchBigram(word);
    }
    for (std::size_t t = 0; t < group.size(); ++t) {
      for (std::size_t w = lists.word_offsets[t]; w < lists.word_offsets[t + 1];
           ++w) {
        AppendWord(featurizer, lists.words[w], lists);
      }
      lists.offsets.push_back(static_cast<std::uint32_t>(lists.rows.size()));
    }
    next += group.size();
  }
  SumWords(lists);
  return next;
}

void WordSums::AppendWord(const Featurizer& featurizer, const TextWord& word,
                          RowLists& lists) {
  const Place place = Find(word.key);
  if (place.is_kept) {
    lists.rows.push_back(place.slot.row);
  } else {
    AppendFeatures(featurizer, word, lists);
  }
  const std::optional<std::uint32_t> bigram = featurizer.FindBigram(word);
  if (bigram.has_value()) lists.rows.push_back(TableRow(*bigram));
}

WordSums::Place WordSums::Find(const Fingerprint& word) {
  for (std::size_t place = FirstPlace(word);;
       place = (place + 1) & (slots_.size() - 1)) {
    Slot& slot = slots_[place];
    // Acquire order: `lo` is written after the other members. It is read once:
    // a free slot may be another word's a moment later.
    const std::uint64_t lo = slot.lo.load(std::memory_order_acquire);
    if (lo == 0) return {slot, false};
    if (lo == word.lo && slot.hi == word.hi) return {slot, true};
  }
}

void WordSums::AppendFeatures(const Featurizer& featurizer,
                              const TextWord& word, RowLists& lists) {
  lists.features.clear();
  featurizer.AppendWordFeatures(word, lists.features);
  if (lists.features.empty()) return;
  // One row is its own sum.
  if (lists.features.size() == 1) {
    lists.rows.push_back(TableRow(lists.features.front()));
    return;
  }
  for (const std::uint32_t index : lists.features) {
    lists.feature_rows.push_back(TableRow(index));
  }
  lists.feature_offsets.push_back(
      static_cast<std::uint32_t>(lists.feature_rows.size()));
  lists.to_sum.push_back({word.key, lists.rows.size()});
  lists.rows.push_back(nullptr);
}

// All words are summed at once, so that rows of the next words are prefetched
// while one is summed.
void WordSums::SumWords(RowLists& lists) {
  const std::size_t num_floats = lists.to_sum.size() * width_;
  constexpr std::size_t kLineFloats = std::size(CacheLine().values);
  if (lists.computed.size() * kLineFloats < num_floats) {
    lists.computed.resize(DivideUp(num_floats, kLineFloats));
  }
  if (lists.to_sum.empty()) return;
  float* sum = lists.computed.front().values;
  SumRows(lists.feature_offsets, lists.feature_rows.data(),
          static_cast<int>(width_), sum);
  for (const RowLists::WordToSum& word : lists.to_sum) {
    lists.rows[word.row] = sum;
    if (num_kept() < max_kept_) Keep(word.key, sum);
    sum += width_;
  }
}

void WordSums::Keep(const Fingerprint& word, const float* row) {
  MutexLock lock(mutex_);
  if (num_kept() == max_kept_) return;
  const auto [slot, is_kept] = Find(word);
  // Another thread may have kept the word. A fingerprint of 0 would look like a
  // free slot.
  if (is_kept || word.lo == 0) return;
  float* const kept = rows_[num_kept() * row_lines_].values;
  std::copy_n(row, width_, kept);
  slot.hi = word.hi;
  slot.row = kept;
  slot.lo.store(word.lo, std::memory_order_release);
  num_kept_.store(num_kept() + 1, std::memory_order_relaxed);
}

}  // namespace semrank
