// Judges whether the model of a run may replace the model that it began from,
// by clicks that the run did not learn from (judged_clicks.h).
//
//   Pairs    NDCG@10 of each query, its clicked titles among those of the log.
//   Lists    each list that was shown is ranked again. Its measure is the sum
//            over its clicks of weight / log2(1 + new rank), divided by the
//            mean weight of a list: the DCG that the clicks would have without
//            position bias. Lists of one query are averaged.
//   Fit      the served model's NDCG@10 on the new clicks is compared with that
//            on the earlier ones. Wrong clicks that are few beside the earlier
//            pairs harm a model too little for a test, but they do not fit.
//            Clicks on lists are compared with those of a random order.
//   Test     paired t-test over queries. A model is worse if it is below the
//            other with a two-sided p below kJudgementP, in one of the tests:
//            clicks of a night that are wrong look right to a model that has
//            learned from them, so the new clicks alone decide nothing.
//   Threads  one thread calls; the pool works.
//   Errors   Cancelled after Ctrl-C.
#ifndef SEMRANK_MODEL_TRAIN_VALIDATION_CANDIDATE_JUDGEMENT_H_
#define SEMRANK_MODEL_TRAIN_VALIDATION_CANDIDATE_JUDGEMENT_H_

#include <cstddef>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/base/thread_pool.h"
#include "model/nn/two_tower_model.h"
#include "model/train/data/judged_clicks.h"

namespace semrank {

inline constexpr double kJudgementP = 0.05;

struct JudgementTest {
  std::string clicks = "";      // "earlier" or "new"
  std::size_t num_queries = 0;  // distinct
  std::size_t num_lists = 0;    // that were shown; 0 for pairs
  double served = 0;            // means over the queries
  double candidate = 0;
  double delta = 0;  // candidate - served
  double standard_error = 0;
  double p = 1;  // two-sided

  bool is_worse() const {
    return num_queries >= kMinJudgedQueries && delta < 0 && p < kJudgementP;
  }
};

// How well the served model ranks what was clicked, by NDCG@10.
struct ClickFit {
  std::size_t num_new = 0;  // queries
  std::size_t num_earlier = 0;
  double of_new = 0;
  double of_earlier = 0;
  double p = 1;  // two-sided, of Welch's test with normal quantiles

  // New titles fit less well than earlier ones. Clicks that fit less than a
  // quarter as well are more likely wrong than new.
  bool is_implausible() const {
    return num_new >= kMinJudgedQueries && num_earlier >= kMinJudgedQueries &&
           of_new < of_earlier / 4 && p < kJudgementP;
  }
};

// The gain of the served model on new lists beside that of a random order.
struct ChanceTest {
  // Fewer queries do not show that clicks are no better than chance.
  static constexpr std::size_t kMinQueries = 200;

  std::size_t num_queries = 0;
  double served = 0;
  double chance = 0;
  double p = 1;

  // Clicks that the served model does not rank better than chance follow no
  // wish of users.
  bool is_chance() const {
    return num_queries >= kMinQueries && (served <= chance || p >= kJudgementP);
  }
};

struct CandidateJudgement {
  std::vector<JudgementTest> tests = {};  // of earlier clicks first
  std::optional<ClickFit> fit = std::nullopt;
  std::optional<ChanceTest> chance = std::nullopt;  // of lists
};

// "on 412 queries of earlier clicks NDCG@10 .5321, the served model .5400:
// delta -.0079 +- .0031, p .011: significantly worse".
std::string DescribeTest(const JudgementTest& test);

std::string DescribeFit(const ClickFit& fit);
std::string DescribeChance(const ChanceTest& test);

// What the clicks that there are say.
absl::StatusOr<CandidateJudgement> JudgeCandidate(
    const JudgedClicks& clicks,
    const std::shared_ptr<const TwoTowerModel>& served,
    const std::shared_ptr<const TwoTowerModel>& candidate, ThreadPool& pool);

// Why the candidate may not be published, as a sentence; nullopt if it may.
std::optional<std::string> DescribeFailure(const CandidateJudgement& judgement);

// Adds the members "judgement" and "fit" of a run's summary
// (FormatSummaryJson).
void AddJudgement(const CandidateJudgement& judgement,
                  nlohmann::ordered_json& summary);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_VALIDATION_CANDIDATE_JUDGEMENT_H_
