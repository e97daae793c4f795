// Clicked pairs in memory, with their texts as numbers. They take 16 bytes a
// pair, beside the texts in the TextInterner.
#ifndef SEMRANK_MODEL_DATA_TEXT_PAIRS_H_
#define SEMRANK_MODEL_DATA_TEXT_PAIRS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "model/data/pair_reader.h"
#include "model/data/text_table.h"

namespace semrank {

// A query and a title clicked for it.
struct TextPair {
  TextId query = 0;
  TextId title = 0;
  std::uint32_t clicks = 1;  // at least 1; larger counts become 2^32 - 1
  // What corrects its clicks for the position of the title; positive.
  float weight = 1;
  friend bool operator==(const TextPair&, const TextPair&) = default;
};

// Replaces the texts of a pair by their numbers.
TextPair InternPair(const ClickPair& pair, TextInterner& texts);
// The click count as TextPair::clicks holds it.
std::uint32_t CappedClicks(std::int64_t clicks);
// Whether the titles differ: the softmax of a single title is 1, its loss 0,
// and nothing can be learned from it.
bool HasTwoTitles(std::span<const TextPair> pairs);
// The distinct queries, or titles, of the pairs, in ascending order.
std::vector<TextId> DistinctQueries(std::span<const TextPair> pairs);
std::vector<TextId> DistinctTitles(std::span<const TextPair> pairs);

// The titles that were clicked for each query: negatives D- of that query's
// pairs must not be among them (DSSM 3.3, CLSM 4.1). Takes 4 bytes a pair and 4
// a text; const after construction.
class ClickedTitles {
 public:
  // No query has any.
  ClickedTitles() = default;
  explicit ClickedTitles(std::span<const TextPair> pairs);

  // In ascending order, each once.
  std::span<const TextId> Of(TextId query) const;

 private:
  // Query q has titles_[offsets_[q]] to titles_[offsets_[q + 1]], the last
  // excluded.
  std::vector<std::uint32_t> offsets_;
  std::vector<TextId> titles_;
};

// Removes the pairs for which is_taken(pair) from `pairs` and returns them.
// Keeps the order of both.
std::vector<TextPair> TakePairs(
    std::vector<TextPair>& pairs,
    absl::FunctionRef<bool(const TextPair&)> is_taken);

// Removes the pairs of `fraction` of the distinct queries, at least one query,
// from `pairs` and returns them, so that no query is on both sides. Keeps the
// order of both.
std::vector<TextPair> HoldOutQueries(double fraction, std::uint64_t seed,
                                     std::vector<TextPair>& pairs);

}  // namespace semrank

#endif  // SEMRANK_MODEL_DATA_TEXT_PAIRS_H_
