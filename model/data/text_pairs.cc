#include "model/data/text_pairs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "model/base/random.h"

namespace semrank {
namespace {

// Sorting a list takes less memory than a hash set of the same ids.
std::vector<TextId> Distinct(std::span<const TextPair> pairs,
                             TextId TextPair::*text) {
  std::vector<TextId> ids;
  for (const TextPair& pair : pairs) ids.push_back(pair.*text);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

}  // namespace

std::vector<TextId> DistinctQueries(std::span<const TextPair> pairs) {
  return Distinct(pairs, &TextPair::query);
}

std::vector<TextId> DistinctTitles(std::span<const TextPair> pairs) {
  return Distinct(pairs, &TextPair::title);
}

bool HasTwoTitles(std::span<const TextPair> pairs) {
  return std::ranges::any_of(pairs, [pairs](const TextPair& pair) {
    return pair.title != pairs.front().title;
  });
}

std::uint32_t CappedClicks(std::int64_t clicks) {
  return static_cast<std::uint32_t>(std::min<std::int64_t>(
      clicks, std::numeric_limits<std::uint32_t>::max()));
}

TextPair InternPair(const ClickPair& pair, TextInterner& texts) {
  // In two statements: the order in which arguments are evaluated is not fixed,
  // and texts are numbered in order of appearance.
  const TextId query = texts.Intern(pair.query);
  return {query, texts.Intern(pair.title), CappedClicks(pair.clicks)};
}

// A counting sort by query, in the memory of the result.
ClickedTitles::ClickedTitles(std::span<const TextPair> pairs)
    : titles_(pairs.size()) {
  TextId last_query = 0;
  for (const TextPair& pair : pairs) {
    last_query = std::max(last_query, pair.query);
  }
  offsets_.resize(std::size_t{last_query} + 2);
  for (const TextPair& pair : pairs) ++offsets_[pair.query];
  std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());
  // From the end of each query's range to its beginning.
  for (const TextPair& pair : pairs) {
    titles_[--offsets_[pair.query]] = pair.title;
  }
  // Pairs that occur twice leave room, which later queries move into.
  std::uint32_t size = 0;
  for (std::size_t q = 0; q <= last_query; ++q) {
    const auto begin = titles_.begin() + offsets_[q];
    const auto end = titles_.begin() + offsets_[q + 1];
    std::sort(begin, end);
    offsets_[q] = size;
    for (auto title = begin; title != end; ++title) {
      const bool again = size > offsets_[q] && *title == titles_[size - 1];
      if (!again) titles_[size++] = *title;
    }
  }
  offsets_.back() = size;
  titles_.resize(size);
}

std::span<const TextId> ClickedTitles::Of(TextId query) const {
  if (std::size_t{query} + 1 >= offsets_.size()) return {};
  return std::span(titles_).subspan(offsets_[query],
                                    offsets_[query + 1] - offsets_[query]);
}

std::vector<TextPair> TakePairs(
    std::vector<TextPair>& pairs,
    absl::FunctionRef<bool(const TextPair&)> is_taken) {
  // The order of the rest is where each epoch's shuffle begins. Not
  // std::ranges::stable_partition: clang 14 cannot compile GCC 12's subrange.
  const auto first = std::stable_partition(
      pairs.begin(), pairs.end(),
      [&](const TextPair& pair) { return !is_taken(pair); });
  std::vector<TextPair> taken(first, pairs.end());
  pairs.erase(first, pairs.end());
  return taken;
}

std::vector<TextPair> HoldOutQueries(double fraction, std::uint64_t seed,
                                     std::vector<TextPair>& pairs) {
  std::vector<TextId> queries = DistinctQueries(pairs);
  Random random(seed, RandomPurpose::kHeldOutQueries);
  Shuffle(random, queries);
  // A fraction of few queries may round to none.
  queries.resize(std::max<std::size_t>(
      1, std::llround(fraction * static_cast<double>(queries.size()))));
  std::sort(queries.begin(), queries.end());

  return TakePairs(pairs, [&queries](const TextPair& pair) {
    return std::ranges::binary_search(queries, pair.query);
  });
}

}  // namespace semrank
