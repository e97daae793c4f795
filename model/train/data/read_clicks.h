// Reads what a run needs to know of its clicks before its pairs.
#ifndef SEMRANK_MODEL_TRAIN_DATA_READ_CLICKS_H_
#define SEMRANK_MODEL_TRAIN_DATA_READ_CLICKS_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "model/data/input_lines.h"
#include "model/data/text_table.h"
#include "model/events/click_rows.h"
#include "model/train/data/judged_clicks.h"
#include "model/train/data/position_weights.h"
#include "model/train/options/train_options.h"

namespace semrank {

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
                                  const BadLines& bad_lines,
                                  TextInterner& texts);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_DATA_READ_CLICKS_H_
