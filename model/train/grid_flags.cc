#include "model/train/grid_flags.h"

#include <string>
#include <string_view>
#include <utility>

#include "absl/flags/flag.h"
#include "absl/strings/str_format.h"
#include "model/base/program.h"
#include "model/base/status_macros.h"
#include "model/train/train_flags.h"

ABSL_FLAG(std::string, grid, "",
          "Values of flags to try in every combination, such as "
          "\"learning_rate=0.001,0.002;gamma=10,20\" (bars between values that "
          "hold commas: hidden=300,300|300). Each is trained and measured on "
          "two halves of the validation queries: what is chosen on one half is "
          "measured on the other. The best one over both is then trained and "
          "published. Finished ones are kept in grid.jsonl in --model_dir, so "
          "that the same command goes on after an interruption.");
ABSL_FLAG(std::string, output, "table",
          "What is printed in the end: table (for people) or json (one object "
          "a line: with --grid what was found, then what was published).");

namespace semrank {
namespace {

// The group of a flag is the source file that defines it.
bool IsInGroup(const FlagTable& table, const GridAssignment& assignment,
               std::string_view group) {
  const absl::CommandLineFlag* flag = table.Find(assignment.flag);
  return flag != nullptr &&
         flag->Filename().find("/" + std::string(group)) != std::string::npos;
}

// What is read must not depend on the setting.
bool ChangesData(const FlagTable& table, const GridAssignment& assignment) {
  return IsInGroup(table, assignment, "data_flags.cc") ||
         IsInGroup(table, assignment, "feature_flags.cc") ||
         assignment.flag == "seed" || assignment.flag == "preset" ||
         assignment.flag == "init_from";
}

bool ChangesLoss(const FlagTable& table, const GridAssignment& assignment) {
  return IsInGroup(table, assignment, "loss_flags.cc") ||
         assignment.flag == "batch_size";
}

}  // namespace

absl::Status SetFlags(const FlagTable& table, const GridSetting& setting) {
  for (const GridAssignment& assignment : setting) {
    absl::CommandLineFlag* flag = table.Find(assignment.flag);
    if (flag == nullptr) {
      const absl::Status unknown =
          table.Unknown("--" + assignment.flag, assignment.flag);
      return FlagError("grid", FormatSetting({assignment}),
                       std::string(unknown.message()));
    }
    const absl::Status status =
        SetFlag(*flag, assignment.value,
                absl::StrFormat("--%s=%s", assignment.flag, assignment.value));
    if (!status.ok()) {
      return FlagError("grid", FormatSetting({assignment}),
                       std::string(status.message()));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<GridPoint>> GridFromFlags(const FlagTable& table) {
  std::vector<GridPoint> points;
  const std::string text = absl::GetFlag(FLAGS_grid);
  if (text.empty()) return points;
  SEMRANK_ASSIGN_OR_RETURN(const std::vector<GridSetting> settings,
                           ParseGrid(text));
  for (const GridSetting& setting : settings) {
    bool changes_loss = false;
    for (const GridAssignment& assignment : setting) {
      if (ChangesData(table, assignment)) {
        return FlagError("grid", FormatSetting({assignment}),
                         "needs other data than the other settings; a grid can "
                         "hold flags of the tower, the loss and the training");
      }
      changes_loss = changes_loss || ChangesLoss(table, assignment);
    }
    SEMRANK_RETURN_IF_ERROR(SetFlags(table, setting));
    if (absl::GetFlag(FLAGS_grid) != text) {
      return FlagError("grid", text, "cannot hold another --grid");
    }
    SEMRANK_ASSIGN_OR_RETURN(TrainOptions options, TrainOptionsFromFlags());
    points.push_back({setting, std::move(options), changes_loss});
  }
  return points;
}

absl::StatusOr<bool> PrintsJson() {
  const std::string output = absl::GetFlag(FLAGS_output);
  if (output == "json") return true;
  if (output == "table") return false;
  return FlagError("output", output, "must be one of table, json");
}

}  // namespace semrank
