#include "model/train/data/text_pairs.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "model/base/interrupt.h"
#include "model/base/random.h"
#include "model/base/status_macros.h"
#include "model/cli/progress.h"
#include "model/train/data/memory_budget.h"

namespace semrank {
namespace {

std::vector<TextId> Distinct(std::vector<TextId> ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

// Takes the pairs for which is_taken(pair) out of `pairs`.
template <typename IsTaken>
std::vector<TextPair> TakePairs(std::vector<TextPair>& pairs,
                                IsTaken is_taken) {
  // Stable: the order of the rest is where each epoch's shuffle begins. Not
  // std::ranges::stable_partition: clang 14 cannot compile GCC 12's subrange.
  const auto first = std::stable_partition(
      pairs.begin(), pairs.end(),
      [&](const TextPair& pair) { return !is_taken(pair); });
  std::vector<TextPair> taken(first, pairs.end());
  pairs.erase(first, pairs.end());
  return taken;
}

}  // namespace

std::vector<TextId> DistinctQueries(std::span<const TextPair> pairs) {
  std::vector<TextId> ids;
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

absl::Status CheckDistinctTitles(const std::vector<std::string>& files,
                                 const std::vector<TextPair>& pairs,
                                 const TextInterner& texts) {
  if (HasTwoTitles(pairs)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "all pairs of %s have the same title, \"%s\": there is no other "
      "title to learn from",
      absl::StrJoin(files, ","), texts.text(pairs[0].title).substr(0, 80)));
}

std::uint32_t CappedClicks(std::int64_t clicks) {
  return static_cast<std::uint32_t>(std::min<std::int64_t>(
      clicks, std::numeric_limits<std::uint32_t>::max()));
}

std::int64_t Repetitions(std::int64_t clicks, const LossOptions& loss) {
  return loss.clicks == v1::CLICK_USE_REPEAT ? clicks : 1;
}

TextPair InternPair(const ClickPair& pair, TextInterner& texts) {
  // In two statements: the order in which arguments are evaluated is not fixed,
  // and texts are numbered in order of appearance.
  const TextId query = texts.Intern(pair.query);
  return {query, texts.Intern(pair.title), CappedClicks(pair.clicks)};
}

absl::StatusOr<std::vector<TextPair>> ReadPairs(
    const std::vector<std::string>& files, BadLines& bad_lines,
    TextInterner& texts, const ReadPairsOptions& options) {
  std::vector<ShownTitle>* const shown = options.shown;
  PairReader reader(files,
                    shown != nullptr ? PairLines::kAll : PairLines::kClicked,
                    bad_lines);
  ProgressBar progress("reading", /*total=*/0, "pairs");
  std::vector<TextPair> pairs;
  ClickPair pair;
  for (;;) {
    SEMRANK_ASSIGN_OR_RETURN(const bool more, reader.Next(pair));
    if (!more) break;
    if (Interrupted()) return absl::CancelledError("interrupted while reading");
    // One number stays free: the tables' marks for "none".
    if (texts.size() + 2 > std::numeric_limits<TextId>::max()) {
      return absl::ResourceExhaustedError(
          absl::StrFormat("more than %d distinct texts in %s", texts.size(),
                          absl::StrJoin(files, ",")));
    }
    const TextPair interned = InternPair(pair, texts);
    if (shown != nullptr) {
      shown->push_back(
          {interned.query, interned.title, pair.clicks, pair.impressions});
    }
    if (pair.clicks == 0) continue;
    pairs.push_back(interned);
    if (options.memory != nullptr &&
        !FitsInMemory(
            PairBytes(pairs.size(), texts.size(), texts.num_characters()),
            *options.memory)) {
      return absl::OutOfRangeError("the pairs do not fit in memory");
    }
    progress.Update(static_cast<std::int64_t>(pairs.size()));
  }
  if (reader.num_without_clicks() > 0) {
    absl::FPrintF(stderr, "%d pairs have 0 clicks and are %s\n",
                  reader.num_without_clicks(),
                  shown != nullptr ? "negatives only" : "left out");
  }
  if (!pairs.empty()) return pairs;
  return absl::InvalidArgumentError(
      absl::StrFormat("no usable pair among the %d lines of %s",
                      reader.num_lines(), absl::StrJoin(files, ",")));
}

absl::StatusOr<std::vector<TextPair>> ReadValidPairs(
    const std::vector<std::string>& files, BadLines& bad_lines,
    TextInterner& texts) {
  SEMRANK_ASSIGN_OR_RETURN(std::vector<TextPair> pairs,
                           ReadPairs(files, bad_lines, texts));
  SEMRANK_RETURN_IF_ERROR(CheckDistinctTitles(files, pairs, texts));
  return pairs;
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

std::vector<TextPair> HoldOutQueries(double fraction, std::uint64_t seed,
                                     std::vector<TextPair>& pairs) {
  std::vector<TextId> queries = DistinctQueries(pairs);
  Random random(seed, RandomPurpose::kHeldOutQueries);
  Shuffle(random, queries);
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
    // In order of the pairs, as the order of a hash map differs from run to
    // run.
    if (++num_pairs[root] == 1) roots.push_back(root);
  }
  Random random(seed, RandomPurpose::kLexicalFit, /*index=*/1);
  Shuffle(random, roots);
  auto left =
      static_cast<std::size_t>(share * static_cast<double>(pairs.size()));
  absl::flat_hash_set<TextId> held_out;
  for (const TextId root : roots) {
    // One giant component, which click graphs usually have, is left in
    // training; smaller ones fill the share.
    if (num_pairs[root] > left) continue;
    left -= num_pairs[root];
    held_out.insert(root);
  }
  return TakePairs(pairs, [&](const TextPair& pair) {
    return held_out.contains(components.Root(pair.query));
  });
}

}  // namespace semrank
