// A grid search. Each combination of values is evaluated once, on all queries.
// Each half of the queries, and all of them, then choose their best combination
// from the same evaluations.
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
  std::string_view flag;
  // The rankers that the flag changes; "+" means any pair.
  std::vector<std::string_view> rankers;
  std::vector<double> values;
  void (*set)(RankerOptions& options, double value);
};

// Each value costs an evaluation of all queries, and the lists of several flags
// multiply, so the lists are short.
const std::vector<Axis>& Axes() {
  static const auto* const axes = new std::vector<Axis>{
      {"bm25_k1",
       {"bm25"},
       {0, 0.3, 0.6, 0.9, 1.2, 1.6, 2},
       [](RankerOptions& o, double value) { o.bm25.k1 = value; }},
      {"bm25_b",
       {"bm25"},
       {0, 0.2, 0.4, 0.6, 0.8, 1},
       [](RankerOptions& o, double value) { o.bm25.b = value; }},
      {"hybrid_weight",
       {"+"},
       {0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 3, 10},
       [](RankerOptions& o, double value) { o.hybrid_weight = value; }},
      {"dirichlet_mu",
       {"ulm", "mrf"},
       {1, 3, 10, 30, 100, 300, 1000, 3000},
       [](RankerOptions& o, double value) { o.dirichlet_mu = value; }},
      {"mrf_ordered",
       {"mrf"},
       {0, 0.03, 0.1, 0.2, 0.3},
       [](RankerOptions& o, double value) { o.mrf.ordered = value; }},
      {"mrf_unordered",
       {"mrf"},
       {0, 0.03, 0.1, 0.2, 0.3},
       [](RankerOptions& o, double value) { o.mrf.unordered = value; }},
      {"qe_documents",
       {"qe"},
       {1, 2, 3, 5, 10, 20},
       [](RankerOptions& o, double value) {
         o.qe.num_documents = static_cast<int>(value);
       }},
      {"qe_weight",
       {"qe"},
       {0, 0.1, 0.2, 0.5, 1, 2},
       [](RankerOptions& o, double value) { o.qe.weight = value; }},
      {"translation_background",
       {"wtm", "ptm"},
       {0.05, 0.2, 0.5, 0.7, 0.9, 0.97},
       [](RankerOptions& o, double value) {
         o.translation.background = value;
       }},
      {"translation_self",
       {"wtm", "ptm"},
       {0, 0.05, 0.1, 0.2, 0.4, 0.7},
       [](RankerOptions& o, double value) { o.translation.self = value; }},
  };
  return *axes;
}

// The flags were checked against TunableFlags.
const Axis& AxisOf(std::string_view flag) {
  return *std::ranges::find(Axes(), flag, &Axis::flag);
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
      const Axis& axis = AxisOf(flag);
      for (const double value : axis.values) {
        // The grid is the product of all axes: the value of one flag is chosen
        // together with those of the others.
        axis.set(setting.options, value);
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
  std::ranges::sort(order, {}, [&](std::size_t i) -> const std::string& {
    return collection.queries[evaluation.queries[i].query].id;
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

// The setting with the highest sum so far. Its evaluation is kept, since making
// it again may take minutes.
struct Best {
  double score = -1;
  std::string setting;
  Evaluation evaluation;
};

}  // namespace

std::vector<std::string> TunableFlags() {
  std::vector<std::string> flags;
  for (const Axis& axis : Axes()) flags.emplace_back(axis.flag);
  return flags;
}

bool IsTunable(std::string_view ranker, std::string_view flag) {
  const std::vector<std::string_view>& rankers = AxisOf(flag).rankers;
  return std::ranges::any_of(rankers, [&](std::string_view single) {
    return single == "+" ? IsPair(ranker) : HasRanker(ranker, single);
  });
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
    // Each evaluation has the same queries in the same order, so the first one
    // decides the halves.
    if (halves.empty()) halves = HalvesOf(evaluation, collection);
    const std::array<double, 3> scores = ScoresOf(evaluation, halves);
    for (std::size_t i = 0; i < best.size(); ++i) {
      // If scores are equal, the first setting is kept.
      if (scores[i] <= best[i].score) continue;
      best[i] = {scores[i], setting.name, evaluation};
    }
  }
  // Each half is measured with the setting that is best on the other one, so no
  // query takes part in choosing the values it is measured with (the papers'
  // 2-fold cross-validation, DSSM 4.1). best[h] was chosen on half h: its
  // evaluation is right for the queries of the other half.
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
