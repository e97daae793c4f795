#include "model/train/data/read_pairs.h"

#include <cstdio>
#include <limits>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "model/base/interrupt.h"
#include "model/base/status_macros.h"
#include "model/cli/progress.h"
#include "model/data/pair_reader.h"
#include "model/train/data/memory_budget.h"

namespace semrank {

absl::Status CheckDistinctTitles(const std::vector<std::string>& files,
                                 const std::vector<TextPair>& pairs,
                                 const TextInterner& texts) {
  if (HasTwoTitles(pairs)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "all pairs of %s have the same title, \"%s\": there is no other "
      "title to learn from",
      absl::StrJoin(files, ","), texts.text(pairs[0].title).substr(0, 80)));
}

std::int64_t Repetitions(std::int64_t clicks, const LossOptions& loss) {
  return loss.clicks == v1::CLICK_USE_REPEAT ? clicks : 1;
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

}  // namespace semrank
