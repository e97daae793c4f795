// grid.jsonl in a model directory: the finished settings of grid searches, so
// that one which was interrupted goes on where it was.
//
//   {"run": "0f3a...", "setting": "gamma=10 learning_rate=0.001",
//    "epochs": [[0.31, 0.29], [0.33, 0.30]], "queries": [500, 500]}
//
//   run      the identity of the training run (run_identity.h), hashed: equal
//            flags and files.
//   epochs   the score of each half after each epoch, higher is better.
//   queries  of each half (loss: pairs).
//   Threads  one thread.
#ifndef SEMRANK_MODEL_TRAIN_GRID_RESULTS_H_
#define SEMRANK_MODEL_TRAIN_GRID_RESULTS_H_

#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/train/grid_choice.h"

namespace semrank {

inline constexpr char kGridFile[] = "grid.jsonl";

// One line, without its end.
std::string FormatGridRun(std::string_view identity, const GridRun& run);

class GridResults {
 public:
  // Reads `model_dir`/grid.jsonl, if there is one. Lines that are damaged,
  // such as one that a crash cut short, are left out and told on standard
  // error: their settings are trained again.
  static absl::StatusOr<GridResults> Open(const std::string& model_dir);

  // Null if no such run is finished.
  const GridRun* Find(const std::string& identity) const;
  // The file is replaced as a whole; lines of other searches stay.
  absl::Status Add(const std::string& identity, GridRun run);

 private:
  explicit GridResults(std::string path) : path_(std::move(path)) {}
  absl::Status ParseLine(std::string_view line);

  std::string path_;
  std::string text_;  // of the good lines
  std::map<std::string, GridRun> runs_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_GRID_RESULTS_H_
