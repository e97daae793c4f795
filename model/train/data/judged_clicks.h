// Clicks that no run learns from, by which a model is judged before it replaces
// the served one.
//
//   Earlier  pairs that the served model has kept (kept_pairs.h), of the
//            queries that every run holds out. A night whose clicks are wrong
//            cannot hide there.
//   New      the lists of the last days, as they were shown, and the pairs of
//            their clicks; or else the held-out pairs of the files.
//   Threads  const after construction.
#ifndef SEMRANK_MODEL_TRAIN_DATA_JUDGED_CLICKS_H_
#define SEMRANK_MODEL_TRAIN_DATA_JUDGED_CLICKS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/data/collection.h"
#include "model/data/text_pairs.h"
#include "model/data/text_table.h"
#include "model/train/data/position_weights.h"
#include "model/train/options/train_options.h"

namespace semrank {

// A list of titles, normalised, as it was shown for a query.
struct ListClick {
  std::size_t place = 0;       // in ClickedList::titles
  std::uint32_t position = 0;  // at which the title was shown
};

struct ClickedList {
  std::string query = {};
  std::vector<std::string> titles = {};
  std::vector<ListClick> clicks = {};
};

struct ClickedLists {
  // A query for each list, whose judgements are the titles of the list.
  Collection collection;
  // The clicks of each list: document, and the weight of its position.
  std::vector<std::vector<std::pair<std::uint32_t, double>>> clicks;
};

struct JudgedClicks {
  // Null without such clicks.
  std::shared_ptr<const Collection> earlier = nullptr;
  std::shared_ptr<const Collection> new_pairs = nullptr;
  std::shared_ptr<const ClickedLists> new_lists = nullptr;
};

// Each title of a list counts once, with all clicks on it.
ClickedLists MakeClickedLists(std::span<const ClickedList> lists,
                              const PositionWeights& weights);

// Fewer distinct queries say nothing.
inline constexpr std::size_t kMinJudgedQueries = 20;

// The number of distinct queries of the new clicks.
std::size_t NumNewQueries(const JudgedClicks& clicks);

// The clicks of lists, which may be null.
std::vector<TextPair> PairsOfLists(const ClickedLists* lists,
                                   TextInterner& texts);

// Collections of pairs that are held out, among `titles`, which the model will
// rank. Earlier pairs from which the model of --init_from may have learned are
// dropped: it would always look better there. Nothing without
// options.data.judge_fraction.
JudgedClicks MakeJudged(const TrainOptions& options, const TextInterner& texts,
                        std::span<const TextId> titles,
                        std::span<const TextPair> new_pairs,
                        std::vector<TextPair> earlier,
                        std::shared_ptr<const ClickedLists> new_lists);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_DATA_JUDGED_CLICKS_H_
