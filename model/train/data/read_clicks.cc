#include "model/train/data/read_clicks.h"

#include <utility>

#include "model/base/status_macros.h"
#include "model/train/data/event_clicks.h"
#include "model/train/data/read_pairs.h"

namespace semrank {

absl::StatusOr<Clicks> ReadClicks(const TrainOptions& options,
                                  const BadLines& bad_lines,
                                  TextInterner& texts) {
  Clicks clicks;
  if (options.data.event_paths.empty()) {
    std::vector<ClickRow> rows;
    if (EstimatesPositions(options.loss)) {
      SEMRANK_ASSIGN_OR_RETURN(
          rows, ReadRows(options.data.train_files, options, bad_lines));
    }
    SEMRANK_ASSIGN_OR_RETURN(clicks.weights,
                             PositionWeights::Create(options, rows));
    return clicks;
  }
  SEMRANK_ASSIGN_OR_RETURN(EventClicks events, ReadEventClicks(options, texts));
  SEMRANK_ASSIGN_OR_RETURN(clicks.weights,
                           PositionWeights::Create(options, events.rows));
  if (!events.judged.empty()) {
    clicks.judged_lists = std::make_shared<const ClickedLists>(
        MakeClickedLists(events.judged, clicks.weights));
  }
  clicks.rows = std::move(events.rows);
  return clicks;
}

}  // namespace semrank
