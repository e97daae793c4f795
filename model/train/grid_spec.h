// What --grid asks for: values of flags, to be tried in every combination.
//
//   Text     flag=value,value;flag=value,value. Values that hold commas
//            themselves have bars between them: hidden=300,300|300.
#ifndef SEMRANK_MODEL_TRAIN_GRID_SPEC_H_
#define SEMRANK_MODEL_TRAIN_GRID_SPEC_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace semrank {

// A flag of the command line and its value, as text.
struct GridAssignment {
  std::string flag;
  std::string value;
  friend bool operator==(const GridAssignment&,
                         const GridAssignment&) = default;
};

// One point of a grid: a value for each of its flags.
using GridSetting = std::vector<GridAssignment>;

// Every setting is a training run.
inline constexpr int kMaxGridSettings = 100;

// All settings; of the flags the last one changes fastest. UsageError naming
// --grid and what is wrong with it: a flag without a value or named twice, a
// value that stands twice, more than kMaxGridSettings.
absl::StatusOr<std::vector<GridSetting>> ParseGrid(std::string_view text);

// "learning_rate=0.001 gamma=10".
std::string FormatSetting(const GridSetting& setting);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_GRID_SPEC_H_
