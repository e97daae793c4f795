#include "model/nn/word_sums.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "model/nn/kernels.h"

namespace semrank {
namespace {

// Texts whose words are looked up together. Each look-up may have to wait for
// memory, so all are prefetched before the first.
constexpr std::size_t kGroupTexts = 8;

// Sums of words that are not kept, after which no further group begins.
constexpr std::size_t kMaxComputedRows = 256;

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
      // At least one: nothing of no size can be mapped.
      rows_(std::max<std::size_t>(max_kept_, 1) * row_lines_) {}

std::size_t WordSums::AppendTexts(
    const Featurizer& featurizer,
    std::span<const std::string_view> normalized_texts, RowLists& lists) {
  std::size_t next = 0;
  while (next < normalized_texts.size() &&
         lists.num_computed < kMaxComputedRows) {
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
  return next;
}

void WordSums::AppendWord(const Featurizer& featurizer, const TextWord& word,
                          RowLists& lists) {
  const Slot& slot = Find(word.key);
  // Acquire: the key is written after the row.
  const float* const row = slot.lo.load(std::memory_order_acquire) != 0
                               ? slot.row
                               : Sum(featurizer, word, lists);
  if (row != nullptr) lists.rows.push_back(row);
  const std::optional<std::uint32_t> bigram = featurizer.FindBigram(word);
  if (bigram.has_value()) lists.rows.push_back(TableRow(*bigram));
}

WordSums::Slot& WordSums::Find(const Fingerprint& word) {
  for (std::size_t place = FirstPlace(word);;
       place = (place + 1) & (slots_.size() - 1)) {
    Slot& slot = slots_[place];
    const std::uint64_t lo = slot.lo.load(std::memory_order_acquire);
    if (lo == 0 || (lo == word.lo && slot.hi == word.hi)) return slot;
  }
}

const float* WordSums::Sum(const Featurizer& featurizer, const TextWord& word,
                           RowLists& lists) {
  lists.features.clear();
  featurizer.AppendWordFeatures(word, lists.features);
  if (lists.features.empty()) return nullptr;
  // One row is its own sum.
  if (lists.features.size() == 1) return TableRow(lists.features.front());
  lists.feature_rows.clear();
  for (const std::uint32_t index : lists.features) {
    lists.feature_rows.push_back(TableRow(index));
  }
  if (lists.num_computed == lists.computed.size()) {
    lists.computed.emplace_back();
  }
  // Growing `computed` moves its rows' owners, not the rows.
  std::vector<float>& sum = lists.computed[lists.num_computed++];
  sum.resize(width_);
  SumRows(lists.feature_rows, static_cast<int>(width_), sum.data());
  if (num_kept() < max_kept_) Keep(word.key, sum.data());
  return sum.data();
}

void WordSums::Keep(const Fingerprint& word, const float* row) {
  MutexLock lock(mutex_);
  if (num_kept() == max_kept_) return;
  Slot& slot = Find(word);
  // Another thread may have kept the word. A fingerprint of 0 would look like a
  // free slot.
  if (slot.lo.load(std::memory_order_relaxed) != 0 || word.lo == 0) return;
  float* const kept = rows_[num_kept() * row_lines_].values;
  std::copy_n(row, width_, kept);
  slot.hi = word.hi;
  slot.row = kept;
  slot.lo.store(word.lo, std::memory_order_release);
  num_kept_.store(num_kept() + 1, std::memory_order_relaxed);
}

}  // namespace semrank
