// What a grid search found, for people and for programs.
#ifndef SEMRANK_MODEL_TRAIN_GRID_REPORT_H_
#define SEMRANK_MODEL_TRAIN_GRID_REPORT_H_

#include <string>

#include "model/train/grid_choice.h"

namespace semrank {

// A line a setting, at its best epoch over both halves; below it what was
// chosen on each half and measured on the other, and the winner. Losses are
// shown as such, lower being better.
std::string FormatGridTable(const GridOutcome& outcome);

// The same as one JSON object on one line:
// {"measure": "ndcg@10",
//  "settings": [{"setting": "gamma=10", "epoch": 4, "halves": [x, x],
//                "both": x}, {"setting": "gamma=99", "diverged": true}, ...],
//  "chosen": [{"setting": "gamma=10", "epoch": 4, "on_half": 1,
//              "measured": x}, ...],
//  "cross_validated": x, "winner": {"setting": "gamma=10", "epoch": 4}}
std::string FormatGridJson(const GridOutcome& outcome);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_GRID_REPORT_H_
