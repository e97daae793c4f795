#include "model/data/text_pairs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "model/base/random.h"

namespace semrank {
namespace {

std::vector<TextId> Distinct(std::vector<TextId> ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

}  // namespace

std::vector<TextId> DistinctQueries(std::span<const TextPair> pairs) {
  std::vector<TextId> ids;
  // Sorting a list takes less memory than a hash set of the same ids.
  for (const TextPair& pair : pairs) ids.push_back(pair.query);
  return Distinct(std::move(ids));
}

std::vector<TextId> DistinctTitles(std::span<const TextPair> pairs) {
  std::vector<TextId> ids;
  for (const TextPair& pair : pairs) ids.push_back(pair.title);
  return Distinct(std::move(ids));
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

namespace {

// The connected components of the click graph, whose nodes are queries and
// titles.
class ClickComponents {
 public:
  explicit ClickComponents(std::span<const TextPair> pairs) {
    for (const TextPair& pair : pairs) {
      // Union-find without ranks: path compression alone keeps the paths short.
      parents_[Root(pair.query)] = Root(pair.title);
    }
  }
  // A text that stands for the component of `text`.
  TextId Root(TextId text) {
    TextId root = text;
    while (true) {
      const TextId parent = parents_.try_emplace(root, root).first->second;
      if (parent == root) break;
      root = parent;
    }
    // Path compression: each text on the way gets the root as its parent.
    while (text != root) text = std::exchange(parents_[text], root);
    return root;
  }

 private:
  absl::flat_hash_map<TextId, TextId> parents_;
};

}  // namespace

std::vector<TextPair> HoldOutComponents(double share, std::uint64_t seed,
                                        std::vector<TextPair>& pairs) {
  ClickComponents components(pairs);
  absl::flat_hash_map<TextId, std::size_t> num_pairs;
  std::vector<TextId> roots;
  for (const TextPair& pair : pairs) {
    const TextId root = components.Root(pair.query);
    // Collects the roots in order of the pairs, as the order of a hash map
    // differs from run to run.
    if (++num_pairs[root] == 1) roots.push_back(root);
  }
  Random random(seed, RandomPurpose::kLexicalFit, /*index=*/1);
  Shuffle(random, roots);
  auto left =
      static_cast<std::size_t>(share * static_cast<double>(pairs.size()));
  absl::flat_hash_set<TextId> held_out;
  for (const TextId root : roots) {
    // Most click graphs have one giant component, which stays in training;
    // smaller ones fill the share.
    if (num_pairs[root] > left) continue;
    left -= num_pairs[root];
    held_out.insert(root);
  }
  return TakePairs(pairs, [&](const TextPair& pair) {
    return held_out.contains(components.Root(pair.query));
  });
}

}  // namespace semrank
