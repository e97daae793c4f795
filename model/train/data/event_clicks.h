// The clicks of folders of events (--events) as training data, and what a run
// needs to know of its clicks before its pairs.
//
//   Train    sums of clicks by query, title and position, of the lists that
//            ClickJoin does not drop.
//   Judge    with options.data.judge_fraction, the lists of the last days are
//            not trained on; at most a fifth of all, the last ones. They judge
//            where models are compared. The first night learns nothing of them
//            either: the next one may judge its model by them.
//   Memory   what ClickJoin takes, and the lists of the last days.
//   Errors   those of ForEachEvent and ClickJoin.
#ifndef SEMRANK_MODEL_TRAIN_DATA_EVENT_CLICKS_H_
#define SEMRANK_MODEL_TRAIN_DATA_EVENT_CLICKS_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "model/data/input_lines.h"
#include "model/data/text_pairs.h"
#include "model/data/text_table.h"
#include "model/events/click_rows.h"
#include "model/train/data/chance_clicks.h"
#include "model/train/data/judged_clicks.h"
#include "model/train/data/position_weights.h"
#include "model/train/data/shown_titles.h"
#include "model/train/options/train_options.h"

namespace semrank {

// The last lists judge a model, and no more of them than this.
inline constexpr std::size_t kMaxJudgedLists = 20'000;

struct EventClicks {
  std::vector<ClickRow> rows = {};
  // Lists with a click; empty unless models are compared.
  std::vector<ClickedList> judged = {};
};

// ResourceExhausted, with what to do. A run cannot stream events.
absl::Status EventsDoNotFit();

// The texts of the rows are normalised and interned in `texts`; results with
// another text (too long, no letters or numbers) are dropped and counted on
// standard error. EventsDoNotFit when rows and lists exceed MaxPairBytes.
absl::StatusOr<EventClicks> ReadEventClicks(const TrainOptions& options,
                                            TextInterner& texts);

// The weights of positions, and the clicks of --events.
struct Clicks {
  PositionWeights weights;
  std::vector<ClickRow> rows = {};
  std::shared_ptr<const ClickedLists> judged_lists;
};

// Estimates the examination of positions if that is asked for. `texts` gets
// those of the rows. Fails as ReadEventClicks, ReadRows, ReadExamination and
// EstimateExamination.
absl::StatusOr<Clicks> ReadClicks(const TrainOptions& options,
                                  BadLines& bad_lines, TextInterner& texts);

// The rows that have clicks as pairs, with the weights of their positions.
// `shown` and `counts` as ReadPairs has them. InvalidArgument without two
// different titles.
absl::StatusOr<std::vector<TextPair>> PairsOfRows(
    const std::vector<ClickRow>& rows, const PositionWeights& weights,
    const TextInterner& texts, std::vector<ShownTitle>* shown,
    ClickCounts* counts);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_DATA_EVENT_CLICKS_H_
