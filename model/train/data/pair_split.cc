#include "model/train/data/pair_split.h"

#include <cmath>
#include <cstdio>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/train/data/streamed_data.h"
#include "model/train/start/kept_pairs.h"
#include "model/train/start/start_language.h"

namespace semrank {
namespace {

absl::Status CheckLanguage(const TrainOptions& options,
                           const std::vector<ClickPair>& kept,
                           std::span<const TextPair> pairs,
                           const TextInterner& texts) {
  // Each text counts once: a few queries that are repeated a thousand times say
  // little about the language of a log.
  StartLanguage language(*options.features.given, kept);
  absl::flat_hash_set<TextId> added;
  for (const TextPair& pair : pairs) {
    for (const TextId id : {pair.query, pair.title}) {
      if (added.insert(id).second) language.Add(texts.text(id));
    }
  }
  return language.Check(options.initial_model.version_dir);
}

// The model has learned more than this share of the pairs before.
constexpr double kMostPairs = 0.5;

void WarnIfSeen(const TrainOptions& options, const std::vector<ClickPair>& kept,
                std::span<const TextPair> pairs, const TextInterner& texts) {
  const double share =
      CountSeen(kept, options.data.keep_pairs, texts, pairs).Share();
  if (share <= kMostPairs) return;
  absl::FPrintF(stderr,
                "warning: %s has learned %.0f %% of the pairs of --train "
                "before; is this the file of another day?\n",
                options.initial_model.version_dir, 100 * share);
}

// All runs hold out the same queries, whatever their seeds.
// The number is "judge" in ASCII.
constexpr std::uint64_t kJudgeSeed = 0x6a75646765;

}  // namespace

absl::StatusOr<EarlierPairs> AddEarlierPairs(const TrainOptions& options,
                                             std::span<const TextPair> held_out,
                                             TextInterner& texts,
                                             std::vector<TextPair>& pairs) {
  EarlierPairs earlier;
  // Earlier pairs are not added without an initial model, nor with SSI, which
  // keeps the words of the initial model.
  if (!options.features.grows_given) return earlier;
  const std::string& start = options.initial_model.version_dir;
  SEMRANK_ASSIGN_OR_RETURN(const std::vector<ClickPair> kept,
                           ReadKeptPairs(start));
  SEMRANK_RETURN_IF_ERROR(CheckLanguage(options, kept, pairs, texts));
  // The general model has learned from a corpus, not from clicks of this shop,
  // so its pairs are not added.
  if (options.initial_model.is_general) return earlier;
  // Folders of events keep earlier nights.
  if (options.data.event_paths.empty()) {
    WarnIfSeen(options, kept, pairs, texts);
  }
  // The kept pairs follow the new ones, so the first num_new are those of
  // the files.
  const std::size_t num_new = pairs.size();
  earlier.omitted = AppendKept(kept, held_out, texts, pairs);
  earlier.num_added = static_cast<std::int64_t>(pairs.size() - num_new);
  absl::FPrintF(stderr, "%d new pairs; %d earlier ones, which %s has kept\n",
                num_new, earlier.num_added, start);
  return earlier;
}

std::vector<TextPair> HoldOutQueriesByHash(double fraction, std::uint64_t seed,
                                           const TextInterner& texts,
                                           std::vector<TextPair>& pairs) {
  const TextHash hash(seed);
  // The hash is uniform over 64 bits, so a share of its values is that share of
  // all queries there can be.
  const auto below = static_cast<std::uint64_t>(std::ldexp(fraction, 64));
  return TakePairs(pairs, [&](const TextPair& pair) {
    return hash(texts.text(pair.query)) < below;
  });
}

std::vector<TextPair> HoldOutJudged(const DataOptions& options,
                                    const TextInterner& texts,
                                    std::vector<TextPair>& pairs) {
  if (options.judge_fraction <= 0) return {};
  std::vector<TextPair> held_out =
      HoldOutQueriesByHash(options.judge_fraction, kJudgeSeed, texts, pairs);
  if (!pairs.empty() && HasTwoTitles(pairs)) return held_out;
  pairs.insert(pairs.end(), held_out.begin(), held_out.end());
  return {};
}

}  // namespace semrank
