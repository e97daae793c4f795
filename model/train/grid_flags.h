// --grid: the settings to try, as the command line gives them.
#ifndef SEMRANK_MODEL_TRAIN_GRID_FLAGS_H_
#define SEMRANK_MODEL_TRAIN_GRID_FLAGS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/base/flag_table.h"
#include "model/train/grid_search.h"
#include "model/train/grid_spec.h"

namespace semrank {

// Each setting with the options that all flags together mean then; nothing
// without --grid. FlagError for a flag that there is not or a value that it
// cannot take. The flags are left as the last setting has them.
absl::StatusOr<std::vector<GridPoint>> GridFromFlags(const FlagTable& table);

// Sets the flags of one setting.
absl::Status SetFlags(const FlagTable& table, const GridSetting& setting);

// --output=json: what is printed is JSON, one object a line.
absl::StatusOr<bool> PrintsJson();

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_GRID_FLAGS_H_
