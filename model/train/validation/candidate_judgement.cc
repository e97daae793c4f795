#include "model/train/validation/candidate_judgement.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numbers>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/eval/metrics/comparison.h"
#include "model/eval/metrics/evaluate.h"
#include "model/eval/metrics/metrics.h"
#include "model/eval/rankers/model_ranker.h"

namespace semrank {
namespace {

// Each measure is a number for each query of both models; the tests compare
// their differences. Means over lists of one query come first, so that a query
// that many users ask is one observation.

// The measures of both models for the same queries.
struct PairedValues {
  std::vector<double> served;
  std::vector<double> candidate;
};

JudgementTest MakeTest(std::string clicks, std::size_t num_lists,
                       const PairedValues& values) {
  // Both models rank the same queries, so the variance between queries cancels
  // out in the differences.
  std::vector<double> differences;
  for (std::size_t q = 0; q < values.served.size(); ++q) {
    differences.push_back(values.candidate[q] - values.served[q]);
  }
  const PairedComparison comparison = ComparePaired(differences);
  return {.clicks = std::move(clicks),
          .num_queries = differences.size(),
          .num_lists = num_lists,
          .served = MeanOf(values.served).mean,
          .candidate = MeanOf(values.candidate).mean,
          .delta = comparison.delta,
          .standard_error = comparison.standard_error,
          .p = comparison.t_test_p};
}

absl::StatusOr<Evaluation> Rank(const Collection& collection,
                                std::shared_ptr<const TwoTowerModel> model,
                                EvaluateOptions options, ThreadPool& pool) {
  // After Ctrl-C the best epoch is judged as any other.
  options.stops_when_interrupted = false;
  const ModelRanker ranker(std::move(model), collection.documents, pool);
  return EvaluateRanker(ranker, collection, options, pool);
}

absl::StatusOr<std::vector<double>> NdcgOfPairs(
    const Collection& collection, std::shared_ptr<const TwoTowerModel> model,
    ThreadPool& pool) {
  SEMRANK_ASSIGN_OR_RETURN(const Evaluation evaluation,
                           Rank(collection, std::move(model), {}, pool));
  std::vector<double> values;
  for (const QueryEvaluation& query : evaluation.queries) {
    values.push_back(query.metrics[kNdcgAt10]);
  }
  return values;
}

// `rank` counts from 0.
double Discount(std::size_t rank) {
  // The discount of DCG, log2(1 + rank) with ranks from 1.
  return 1 / std::log2(2.0 + static_cast<double>(rank));
}

// The discounted gain of the clicks in the new order.
double GainOf(const std::vector<RankedDocument>& run,
              const std::vector<std::pair<std::uint32_t, double>>& clicks) {
  double gain = 0;
  for (std::size_t rank = 0; rank < run.size(); ++rank) {
    for (const auto& [document, weight] : clicks) {
      if (document != run[rank].index) continue;
      gain += weight * Discount(rank);
    }
  }
  return gain;
}

double MeanWeight(const ClickedLists& lists) {
  double sum = 0;
  for (const auto& clicks : lists.clicks) {
    for (const auto& [document, weight] : clicks) sum += weight;
  }
  return sum / static_cast<double>(lists.clicks.size());
}

// The mean over the lists of each query, by its text, of gains in a unit that
// does not depend on the weights.
std::vector<double> MeansOfQueries(const ClickedLists& lists,
                                   const std::vector<double>& gains) {
  // The weights of positions depend on the curve of this night. The division by
  // their mean makes gains of two nights comparable.
  const double scale = MeanWeight(lists);
  // Both models must have their values in the same order: that of the texts.
  std::map<std::string_view, std::vector<double>> by_query;
  for (std::size_t i = 0; i < gains.size(); ++i) {
    by_query[lists.collection.queries[i].text].push_back(gains[i] / scale);
  }
  std::vector<double> values;
  values.reserve(by_query.size());
  for (const auto& [query, of_query] : by_query) {
    values.push_back(MeanOf(of_query).mean);
  }
  return values;
}

absl::StatusOr<std::vector<double>> GainOfLists(
    const ClickedLists& lists, std::shared_ptr<const TwoTowerModel> model,
    ThreadPool& pool) {
  EvaluateOptions options;
  // Only the titles of the list are ranked: nothing is known of a click
  // on others.
  options.candidates = Candidates::kJudged;
  // Lists are ranked to their ends, as a click may be anywhere.
  options.run_depth =
      static_cast<std::uint32_t>(lists.collection.documents.size());
  SEMRANK_ASSIGN_OR_RETURN(
      const Evaluation evaluation,
      Rank(lists.collection, std::move(model), options, pool));
  std::vector<double> gains;
  for (const QueryEvaluation& list : evaluation.queries) {
    gains.push_back(GainOf(list.run, lists.clicks[list.query]));
  }
  return MeansOfQueries(lists, gains);
}

// What a random order would give.
std::vector<double> GainOfChance(const ClickedLists& lists) {
  std::vector<double> gains;
  for (std::size_t i = 0; i < lists.clicks.size(); ++i) {
    const std::size_t size = lists.collection.queries[i].judgements.size();
    double discounts = 0, weights = 0;
    for (std::size_t rank = 0; rank < size; ++rank) discounts += Discount(rank);
    for (const auto& [document, weight] : lists.clicks[i]) weights += weight;
    // Each click is at every rank equally often, so its expected discount is
    // the mean one.
    gains.push_back(weights * discounts / static_cast<double>(size));
  }
  return MeansOfQueries(lists, gains);
}

// Empty without pairs.
absl::StatusOr<PairedValues> RankPairs(
    const Collection* collection, std::shared_ptr<const TwoTowerModel> served,
    std::shared_ptr<const TwoTowerModel> candidate, ThreadPool& pool) {
  PairedValues values;
  if (collection == nullptr) return values;
  SEMRANK_ASSIGN_OR_RETURN(values.served,
                           NdcgOfPairs(*collection, std::move(served), pool));
  SEMRANK_ASSIGN_OR_RETURN(
      values.candidate, NdcgOfPairs(*collection, std::move(candidate), pool));
  return values;
}

ClickFit FitOf(const std::vector<double>& of_new,
               const std::vector<double>& of_earlier) {
  const MeanAndError mean_new = MeanOf(of_new);
  const MeanAndError mean_earlier = MeanOf(of_earlier);
  ClickFit fit = {.num_new = of_new.size(),
                  .num_earlier = of_earlier.size(),
                  .of_new = mean_new.mean,
                  .of_earlier = mean_earlier.mean};
  const double error =
      std::hypot(mean_new.standard_error, mean_earlier.standard_error);
  if (error > 0) {
    // Two-sided, by the normal distribution: there are at least
    // kMinJudgedQueries of each kind where it decides.
    fit.p = std::erfc(std::abs(fit.of_new - fit.of_earlier) / error /
                      std::numbers::sqrt2);
  }
  return fit;
}

}  // namespace

std::string DescribeTest(const JudgementTest& test) {
  std::string text = absl::StrFormat(
      "on %d queries of %s clicks%s %s is %.4f, of the served model %.4f: "
      "delta %+.4f, standard error %.4f, p %.3g",
      test.num_queries, test.clicks,
      test.num_lists > 0
          ? absl::StrFormat(" (%d lists that were shown)", test.num_lists)
          : "",
      test.num_lists > 0 ? "the gain" : "NDCG@10", test.candidate, test.served,
      test.delta, test.standard_error, test.p);
  if (test.num_queries < kMinJudgedQueries) {
    absl::StrAppendFormat(&text, "; fewer than %d queries decide nothing",
                          kMinJudgedQueries);
  } else if (test.is_worse()) {
    text += "; the new model is significantly worse";
  }
  return text;
}

std::string DescribeFit(const ClickFit& fit) {
  return absl::StrFormat(
      "the served model has NDCG@10 %.4f on %d queries of new clicks and %.4f "
      "on %d of earlier ones",
      fit.of_new, fit.num_new, fit.of_earlier, fit.num_earlier);
}

std::string DescribeChance(const ChanceTest& test) {
  return absl::StrFormat(
      "on %d queries the gain of new clicks is %.4f by the served model and "
      "%.4f in a random order, p %.3g",
      test.num_queries, test.served, test.chance, test.p);
}

absl::StatusOr<CandidateJudgement> JudgeCandidate(
    const JudgedClicks& clicks,
    const std::shared_ptr<const TwoTowerModel>& served,
    const std::shared_ptr<const TwoTowerModel>& candidate, ThreadPool& pool) {
  CandidateJudgement judgement;
  PairedValues earlier, fresh;
  SEMRANK_ASSIGN_OR_RETURN(
      earlier, RankPairs(clicks.earlier.get(), served, candidate, pool));
  SEMRANK_ASSIGN_OR_RETURN(
      fresh, RankPairs(clicks.new_pairs.get(), served, candidate, pool));
  if (!earlier.served.empty()) {
    judgement.tests.push_back(MakeTest("earlier", /*num_lists=*/0, earlier));
    if (!fresh.served.empty()) {
      judgement.fit = FitOf(fresh.served, earlier.served);
    }
  }
  if (clicks.new_lists != nullptr) {
    const ClickedLists& lists = *clicks.new_lists;
    // Lists replace the new pairs, which are their clicks: `fit` has used these
    // by now.
    SEMRANK_ASSIGN_OR_RETURN(fresh.served, GainOfLists(lists, served, pool));
    SEMRANK_ASSIGN_OR_RETURN(fresh.candidate,
                             GainOfLists(lists, candidate, pool));
    judgement.tests.push_back(MakeTest("new", lists.clicks.size(), fresh));
    // Compares the served model with a random order: MakeTest gets the served
    // model as `candidate` and the random order as `served`.
    const JudgementTest chance = MakeTest(
        "", 0, {.served = GainOfChance(lists), .candidate = fresh.served});
    judgement.chance = {.num_queries = chance.num_queries,
                        .served = chance.candidate,
                        .chance = chance.served,
                        .p = chance.p};
  } else if (!fresh.served.empty()) {
    judgement.tests.push_back(MakeTest("new", /*num_lists=*/0, fresh));
  }
  return judgement;
}

std::optional<std::string> DescribeFailure(
    const CandidateJudgement& judgement) {
  const auto failed = std::ranges::find_if(
      judgement.tests,
      [](const JudgementTest& test) { return test.is_worse(); });
  if (failed != judgement.tests.end()) {
    return "the new model ranks worse than the served one: " +
           DescribeTest(*failed);
  }
  if (judgement.fit && judgement.fit->is_implausible()) {
    return "the new clicks fit the served model less than a quarter as well as "
           "the earlier ones, so they may be wrong: " +
           DescribeFit(*judgement.fit);
  }
  if (judgement.chance && judgement.chance->is_chance()) {
    return "the served model ranks the new clicks no better than chance, so "
           "they may be wrong: " +
           DescribeChance(*judgement.chance);
  }
  return std::nullopt;
}

void AddJudgement(const CandidateJudgement& judgement,
                  nlohmann::ordered_json& summary) {
  nlohmann::ordered_json& tests = summary["judgement"];
  tests = nlohmann::ordered_json::array();
  for (const JudgementTest& test : judgement.tests) {
    tests.push_back({{"clicks", test.clicks},
                     {"queries", test.num_queries},
                     {"lists", test.num_lists},
                     {"candidate", test.candidate},
                     {"served", test.served},
                     {"delta", test.delta},
                     {"standard_error", test.standard_error},
                     {"p", test.p}});
  }
  if (!judgement.fit) return;
  summary["fit"] = {{"new", judgement.fit->of_new},
                    {"earlier", judgement.fit->of_earlier},
                    {"p", judgement.fit->p}};
}

}  // namespace semrank
