#include "model/eval/tuning.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

struct Axis {
  std::vector<double> values;
  double* field;
};

Axis AxisOf(std::string_view flag, RankerOptions& options) {
  if (flag == "bm25_k1") {
    return {{0, 0.3, 0.6, 0.9, 1.2, 1.6, 2}, &options.bm25.k1};
  }
  if (flag == "bm25_b") return {{0, 0.2, 0.4, 0.6, 0.8, 1}, &options.bm25.b};
  return {{0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5},
          &options.hybrid_weight};
}

struct Setting {
  RankerOptions options;
  std::string name;
};

std::vector<Setting> AllSettings(const std::vector<std::string>& flags,
                                 const RankerOptions& options) {
  std::vector<Setting> settings = {{options, ""}};
  for (const std::string& flag : flags) {
    std::vector<Setting> longer;
    for (Setting& setting : settings) {
      const Axis axis = AxisOf(flag, setting.options);
      for (const double value : axis.values) {
        *axis.field = value;
        longer.push_back(
            {setting.options,
             absl::StrFormat("%s%s%s=%g", setting.name,
                             setting.name.empty() ? "" : " ", flag, value)});
      }
    }
    settings = std::move(longer);
  }
  return settings;
}

// The half of each evaluated query. Alternates by id, so that it does not
// depend on the order of the queries file.
std::vector<std::uint8_t> HalvesOf(const Evaluation& evaluation,
                                   const Collection& collection) {
  std::vector<std::size_t> order(evaluation.queries.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return collection.queries[evaluation.queries[a].query].id <
           collection.queries[evaluation.queries[b].query].id;
  });
  std::vector<std::uint8_t> halves(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) halves[order[i]] = i % 2;
  return halves;
}

// Sums of NDCG@10 over the queries of each half, and over all.
std::array<double, 3> ScoresOf(const Evaluation& evaluation,
                               const std::vector<std::uint8_t>& halves) {
  std::array<double, 3> sums{};
  for (std::size_t i = 0; i < halves.size(); ++i) {
    sums[halves[i]] += evaluation.queries[i].metrics[kNdcgAt10];
  }
  sums[2] = sums[0] + sums[1];
  return sums;
}

struct Best {
  double score = -1;
  std::string setting;
  Evaluation evaluation;
};

}  // namespace

bool IsTunable(std::string_view ranker, std::string_view flag) {
  if (flag != "hybrid_weight") {
    return ranker.find("bm25") != std::string_view::npos;
  }
  return IsPair(ranker);
}

absl::StatusOr<TuningResult> Tune(const std::vector<std::string>& flags,
                                  const RankerOptions& options,
                                  const Collection& collection,
                                  const EvaluateWith& evaluate) {
  std::array<Best, 3> best;
  std::vector<std::uint8_t> halves;
  for (const Setting& setting : AllSettings(flags, options)) {
    SEMRANK_ASSIGN_OR_RETURN(const Evaluation evaluation,
                             evaluate(setting.options));
    if (halves.empty()) halves = HalvesOf(evaluation, collection);
    const std::array<double, 3> scores = ScoresOf(evaluation, halves);
    for (std::size_t i = 0; i < best.size(); ++i) {
      // Of equal ones the first is kept.
      if (scores[i] <= best[i].score) continue;
      best[i] = {scores[i], setting.name, evaluation};
    }
  }
  TuningResult result{std::move(best[1].evaluation),
                      {best[0].setting, best[1].setting},
                      best[2].setting};
  for (std::size_t i = 0; i < halves.size(); ++i) {
    if (halves[i] == 0) continue;
    result.evaluation.queries[i] = best[0].evaluation.queries[i];
  }
  Summarize(result.evaluation);
  return result;
}

}  // namespace semrank
