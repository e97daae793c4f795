#include "model/text/index_set.h"

#include <algorithm>
#include <bit>

namespace semrank {
namespace {

// Calls visit(position) for each bit that is set, lowest first.
template <typename Visitor>
void ForEachBit(std::uint64_t word, Visitor visit) {
  // word & (word - 1) clears the lowest bit that is set.
  for (; word != 0; word &= word - 1) {
    visit(static_cast<std::size_t>(std::countr_zero(word)));
  }
}

}  // namespace

void IndexSet::GrowTo(std::size_t num_indices) {
  const std::size_t num_words = num_indices / 64 + 1;
  if (num_words <= words_.size()) return;
  words_.resize(num_words);
  summary_.resize(num_words / 64 + 1);
}

bool IndexSet::Insert(std::uint32_t index) {
  std::uint64_t& word = words_[index / 64];
  const std::uint64_t bit = std::uint64_t{1} << (index % 64);
  if ((word & bit) != 0) return false;
  word |= bit;
  summary_[index / 4096] |= std::uint64_t{1} << (index / 64 % 64);
  return true;
}

// Words are cleared as they are read, so beside the scan of the summary
// emptying the set costs what the text's own features cost.
std::uint32_t* IndexSet::Drain(std::uint32_t* out) {
  for (std::size_t s = 0; s < summary_.size(); ++s) {
    ForEachBit(summary_[s], [&](std::size_t word_bit) {
      const std::size_t w = s * 64 + word_bit;
      ForEachBit(words_[w], [&](std::size_t index_bit) {
        *out++ = static_cast<std::uint32_t>(w * 64 + index_bit);
      });
      words_[w] = 0;
    });
    summary_[s] = 0;
  }
  return out;
}

void IndexSet::SortAndCount(std::size_t begin,
                            std::vector<std::uint32_t>& indices,
                            std::vector<float>& counts) {
  repeats_.clear();
  for (std::size_t i = begin; i < indices.size(); ++i) {
    if (!Insert(indices[i])) repeats_.push_back(indices[i]);
  }
  std::uint32_t* const first = indices.data() + begin;
  // Overwrites the unsorted indices, all of which are in the set by now; the
  // distinct ones are never more.
  std::uint32_t* const last = Drain(first);
  const auto num_distinct = static_cast<std::size_t>(last - first);
  indices.resize(begin + num_distinct);
  // Most features of a title occur once. So all counts begin as 1, and only
  // repeats are looked up. The first resize drops what follows `begin`,
  // since resize fills only what it adds.
  counts.resize(begin);
  counts.resize(begin + num_distinct, 1.0f);
  for (const std::uint32_t index : repeats_) {
    counts[begin + static_cast<std::size_t>(
                       std::lower_bound(first, last, index) - first)] += 1.0f;
  }
}

}  // namespace semrank
