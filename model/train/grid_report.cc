#include "model/train/grid_report.h"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>

#include "absl/strings/str_format.h"

namespace semrank {
namespace {

const char* NameOf(EpochMeasure measure) {
  return measure == EpochMeasure::kLoss ? "loss" : "ndcg@10";
}

// Scores are losses with their sign changed.
double Shown(double score, EpochMeasure measure) {
  return measure == EpochMeasure::kLoss ? -score : score;
}

nlohmann::ordered_json ToJson(const std::vector<GridRun>& runs,
                              const GridCandidate& candidate) {
  return {{"setting", runs[candidate.run].setting}, {"epoch", candidate.epoch}};
}

}  // namespace

std::string FormatGridTable(const GridOutcome& outcome) {
  const auto& [runs, choice, measure] = outcome;
  std::size_t width = std::string_view("setting").size();
  for (const GridRun& run : runs) width = std::max(width, run.setting.size());
  const int columns = static_cast<int>(width);
  std::string table =
      absl::StrFormat("%-*s  epoch  %9s %9s %9s   (%s)\n", columns, "setting",
                      "half 1", "half 2", "both", NameOf(measure));
  for (std::size_t r = 0; r < runs.size(); ++r) {
    if (runs[r].diverged()) {
      absl::StrAppendFormat(&table,
                            "%-*s  diverged: the loss grew beyond numbers\n",
                            columns, runs[r].setting);
      continue;
    }
    const int epoch = BestEpoch(runs[r]);
    const FoldScores& folds = runs[r].epochs[epoch - 1];
    absl::StrAppendFormat(
        &table, "%-*s  %5d  %9.4f %9.4f %9.4f%s\n", columns, runs[r].setting,
        epoch, Shown(folds[0].score, measure), Shown(folds[1].score, measure),
        Shown(Combine(folds), measure),
        r == choice.winner.run ? "   winner" : "");
  }
  for (int f = 0; f < kNumFolds; ++f) {
    const GridCandidate& chosen = choice.chosen_on[f];
    absl::StrAppendFormat(
        &table, "chosen on half %d: %s, epoch %d; %s on half %d: %.4f\n", f + 1,
        runs[chosen.run].setting, chosen.epoch, NameOf(measure), kNumFolds - f,
        Shown(choice.measured[f].score, measure));
  }
  absl::StrAppendFormat(&table, "cross-validated %s: %.4f\n", NameOf(measure),
                        Shown(choice.cross_validated(), measure));
  return table;
}

std::string FormatGridJson(const GridOutcome& outcome) {
  const auto& [runs, choice, measure] = outcome;
  nlohmann::ordered_json json = {{"measure", NameOf(measure)},
                                 {"settings", nlohmann::json::array()}};
  for (const GridRun& run : runs) {
    if (run.diverged()) {
      json["settings"].push_back(
          {{"setting", run.setting}, {"diverged", true}});
      continue;
    }
    const int epoch = BestEpoch(run);
    const FoldScores& folds = run.epochs[epoch - 1];
    json["settings"].push_back(
        {{"setting", run.setting},
         {"epoch", epoch},
         {"halves",
          {Shown(folds[0].score, measure), Shown(folds[1].score, measure)}},
         {"both", Shown(Combine(folds), measure)}});
  }
  json["chosen"] = nlohmann::json::array();
  for (int f = 0; f < kNumFolds; ++f) {
    nlohmann::ordered_json chosen = ToJson(runs, choice.chosen_on[f]);
    chosen["on_half"] = f + 1;
    chosen["measured"] = Shown(choice.measured[f].score, measure);
    json["chosen"].push_back(chosen);
  }
  json["cross_validated"] = Shown(choice.cross_validated(), measure);
  json["winner"] = ToJson(runs, choice.winner);
  return json.dump(/*indent=*/-1, ' ', /*ensure_ascii=*/false,
                   nlohmann::json::error_handler_t::replace) +
         "\n";
}

}  // namespace semrank
