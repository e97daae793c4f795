#include "model/train/grid_results.h"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/file_io.h"
#include "model/base/line_reader.h"
#include "model/base/status_macros.h"
#include "model/format/strict_json.h"

namespace semrank {
namespace {

using nlohmann::json;

// The two numbers of an array; nothing else is taken for one.
absl::StatusOr<std::array<double, kNumFolds>> Pair(const json& array) {
  std::array<double, kNumFolds> numbers = {};
  if (!array.is_array() || array.size() != kNumFolds) {
    return absl::InvalidArgumentError("has no number for each half");
  }
  for (int f = 0; f < kNumFolds; ++f) {
    if (!array[f].is_number()) {
      return absl::InvalidArgumentError("has a score that is no number");
    }
    numbers[f] = array[f].get<double>();
  }
  return numbers;
}

absl::StatusOr<GridRun> ParseRun(const json& object) {
  GridRun run;
  const auto setting = object.find("setting");
  const auto epochs = object.find("epochs");
  const auto queries = object.find("queries");
  if (setting == object.end() || !setting->is_string() ||
      epochs == object.end() || !epochs->is_array() || epochs->empty() ||
      queries == object.end()) {
    return absl::InvalidArgumentError("lacks setting, epochs or queries");
  }
  run.setting = setting->get<std::string>();
  SEMRANK_ASSIGN_OR_RETURN(const auto weights, Pair(*queries));
  for (const json& epoch : *epochs) {
    SEMRANK_ASSIGN_OR_RETURN(const auto scores, Pair(epoch));
    FoldScores& folds = run.epochs.emplace_back();
    for (int f = 0; f < kNumFolds; ++f) folds[f] = {scores[f], weights[f]};
  }
  if (weights[0] > 0 && weights[1] > 0) return run;
  return absl::InvalidArgumentError("has a half without queries");
}

}  // namespace

std::string FormatGridRun(std::string_view identity, const GridRun& run) {
  nlohmann::ordered_json object;
  object["run"] = std::string(identity);
  object["setting"] = run.setting;
  object["epochs"] = json::array();
  for (const FoldScores& folds : run.epochs) {
    object["epochs"].push_back({folds[0].score, folds[1].score});
  }
  const FoldScores& last = run.epochs.back();
  object["queries"] = {last[0].weight, last[1].weight};
  return object.dump(/*indent=*/-1, ' ', /*ensure_ascii=*/false,
                     json::error_handler_t::replace);
}

absl::StatusOr<GridResults> GridResults::Open(const std::string& model_dir) {
  GridResults results(model_dir + "/" + kGridFile);
  auto reader = LineReader::Open(results.path_);
  if (absl::IsNotFound(reader.status())) return results;
  if (!reader.ok()) return reader.status();
  std::string_view line;
  for (;;) {
    SEMRANK_ASSIGN_OR_RETURN(const bool more, (*reader)->Next(line));
    if (!more) return results;
    const absl::Status status = results.ParseLine(line);
    if (status.ok()) continue;
    absl::FPrintF(stderr, "%s:%d: left out: %s\n", results.path_,
                  (*reader)->line_number(), std::string(status.message()));
  }
}

absl::Status GridResults::ParseLine(std::string_view line) {
  SEMRANK_ASSIGN_OR_RETURN(const json object, ParseStrictJson(line));
  const auto identity = object.is_object() ? object.find("run") : object.end();
  if (identity == object.end() || !identity->is_string()) {
    return absl::InvalidArgumentError("lacks the run");
  }
  SEMRANK_ASSIGN_OR_RETURN(GridRun run, ParseRun(object));
  runs_.insert_or_assign(identity->get<std::string>(), std::move(run));
  absl::StrAppendFormat(&text_, "%s\n", line);
  return absl::OkStatus();
}

const GridRun* GridResults::Find(const std::string& identity) const {
  const auto found = runs_.find(identity);
  return found == runs_.end() ? nullptr : &found->second;
}

absl::Status GridResults::Add(const std::string& identity, GridRun run) {
  absl::StrAppendFormat(&text_, "%s\n", FormatGridRun(identity, run));
  runs_.insert_or_assign(identity, std::move(run));
  return ReplaceFile(path_, text_);
}

}  // namespace semrank
