#include "model/eval/metrics/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "model/eval/evaluation_output.h"
#include "tests/model/eval/rankers/table_ranker.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;

// Four documents; the first query's scores put d3 first, then d0 and d1 tie.
Collection SmallCollection() {
  Collection collection;
  collection.document_ids = {"d0", "d1", "d2", "d3"};
  collection.documents = {"", "", "", ""};
  collection.queries = {{"q0", "first", {{0, 1}, {1, 2}, {2, 0}}, {}},
                        {"q1", "nothing relevant", {{0, 0}}, {}},
                        {"q2", "second", {{2, 1}}, {{"d9", 3}}}};
  return collection;
}

TableRanker SmallRanker() {
  return TableRanker("table", {{"first", {0.5f, 0.5f, 0.1f, 0.9f}},
                               {"nothing relevant", {1, 2, 3, 4}},
                               {"second", {0, 0, 0, -1}}});
}

Evaluation Evaluate(const Ranker& ranker, const Collection& collection,
                    const EvaluateOptions& options, int num_threads = 1) {
  ThreadPool pool(num_threads);
  auto evaluation = EvaluateRanker(ranker, collection, options, pool);
  EXPECT_THAT(evaluation, IsOk());
  return *std::move(evaluation);
}

std::vector<std::uint32_t> RunOf(const QueryEvaluation& query) {
  std::vector<std::uint32_t> documents;
  for (const RankedDocument& ranked : query.run) {
    documents.push_back(ranked.index);
  }
  return documents;
}

TEST(EvaluateTest, MetricsAreTheMeanOverTheOrdersOfTies) {
  const Evaluation evaluation =
      Evaluate(SmallRanker(), SmallCollection(), {.gain = Gain::kLinear});
  // q0: d3, then d0 of grade 1 and d1 of grade 2 in either order. q2: d2 is one
  // of three; a missing document has grade 3.
  const MetricValues& first = evaluation.queries[0].metrics;
  EXPECT_DOUBLE_EQ(first[kMrr], 1.0 / 2);
  EXPECT_DOUBLE_EQ(first[kNdcgAt3],
                   1.5 * (1 / std::log2(3) + 1.0 / 2) / (2 + 1 / std::log2(3)));
  EXPECT_DOUBLE_EQ(evaluation.queries[1].metrics[kMrr],
                   (1 + 1.0 / 2 + 1.0 / 3) / 3);
  EXPECT_DOUBLE_EQ(evaluation.tied_share(), 1);
}

TEST(EvaluateTest, TrecTiesKeepTheOrderOfDocuments) {
  const Evaluation evaluation = Evaluate(SmallRanker(), SmallCollection(),
                                         {.ties = Ties::kTrec, .run_depth = 3});
  EXPECT_EQ(evaluation.ranker, "table");
  const QueryEvaluation& first = evaluation.queries[0];
  EXPECT_THAT(RunOf(first), ElementsAre(3, 0, 1));
  EXPECT_DOUBLE_EQ(first.metrics[kMrr], 1.0 / 2);
  EXPECT_DOUBLE_EQ(first.metrics[kMap], (1.0 / 2 + 2.0 / 3) / 2);
  EXPECT_DOUBLE_EQ(first.metrics[kNdcgAt1], 0);
}

TEST(EvaluateTest, OnlyJudgedDocumentsAreRanked) {
  const Evaluation evaluation = Evaluate(SmallRanker(), SmallCollection(),
                                         {.candidates = Candidates::kJudged,
                                          .ties = Ties::kTrec,
                                          .run_depth = 10});
  const QueryEvaluation& first = evaluation.queries[0];
  EXPECT_THAT(RunOf(first), ElementsAre(0, 1, 2));
  EXPECT_DOUBLE_EQ(first.metrics[kMrr], 1);
  EXPECT_DOUBLE_EQ(first.metrics[kNdcgAt1], 1.0 / 3);
}

TEST(EvaluateTest, QueriesWithoutRelevantDocumentsAreExcluded) {
  const Evaluation evaluation = Evaluate(SmallRanker(), SmallCollection(), {});
  ASSERT_EQ(evaluation.queries.size(), 2u);
  EXPECT_EQ(evaluation.queries[0].query, 0u);
  EXPECT_EQ(evaluation.queries[1].query, 2u);
  EXPECT_TRUE(evaluation.queries[0].run.empty());
}

TEST(EvaluateTest, RelevantDocumentsOutsideTheCollectionAreNotFound) {
  const Evaluation evaluation =
      Evaluate(SmallRanker(), SmallCollection(),
               {.gain = Gain::kLinear, .ties = Ties::kTrec});
  // d2 is third among the tied; the missing document of grade 3 is nowhere.
  const MetricValues& second = evaluation.queries[1].metrics;
  EXPECT_DOUBLE_EQ(second[kMap], (1.0 / 3) / 2);
  EXPECT_DOUBLE_EQ(second[kNdcgAt1], 0);
}

TEST(EvaluateTest, MeanIsOverTheEvaluatedQueries) {
  const Evaluation evaluation =
      Evaluate(SmallRanker(), SmallCollection(), {.ties = Ties::kTrec});
  EXPECT_DOUBLE_EQ(evaluation.summary.mean[kMrr], (1.0 / 2 + 1.0 / 3) / 2);
}

TEST(EvaluateTest, RankingLossIsOverTuplesAndOverQueries) {
  // q0: d3 is above both, d2 above none; 2 of 4 tuples. q2: d0 and d1 are tied
  // with d2, d3 is below it; the missing document is below all three.
  const Evaluation evaluation = Evaluate(SmallRanker(), SmallCollection(), {});
  EXPECT_DOUBLE_EQ(*evaluation.ranking_loss(), (2.0 + 4.0) / (4 + 6));
  EXPECT_DOUBLE_EQ(evaluation.mean_ranking_loss()->mean,
                   (2.0 / 4 + 4.0 / 6) / 2);
}

TEST(EvaluateTest, PartOfTheQueriesHasAMeanOfItsOwn) {
  const Evaluation part = Evaluate(SmallRanker(), SmallCollection(), {})
                              .OfQueries(std::vector<std::uint32_t>{1, 2});
  ASSERT_EQ(part.queries.size(), 1u);
  EXPECT_EQ(part.queries[0].query, 2u);
  EXPECT_EQ(part.summary.mean, part.queries[0].metrics);
}

TEST(EvaluateTest, DocumentsThatARunDoesNotListAreNotFound) {
  // q0 lists d1 only; q2 nothing.
  const Evaluation evaluation = EvaluateRun(
      {.rankings = {{{1, 0.5f}}, {}, {}}}, SmallCollection(), {.run_depth = 5});
  EXPECT_THAT(RunOf(evaluation.queries[0]), ElementsAre(1));
  EXPECT_DOUBLE_EQ(evaluation.queries[0].metrics[kMrr], 1);
  EXPECT_DOUBLE_EQ(evaluation.queries[0].metrics[kMap], 0.5);
  EXPECT_EQ(evaluation.queries[1].metrics, MetricValues{});
}

// Documents in descending order of id, as ReadCollection leaves them.
Collection DescendingCollection() {
  Collection collection;
  collection.document_ids = {"d4", "d2"};
  collection.documents = {"", ""};
  collection.queries = {{"q0", "first", {{1, 1}}, {{"d1", 2}}}};
  return collection;
}

TEST(EvaluateTest, DocumentsOutsideTheCollectionKeepTheirRanks) {
  // d3 and d2 are tied; trec_eval ranks the higher id first.
  const Evaluation evaluation = EvaluateRun(
      {.rankings = {{{1, 0.5f}, {2, 0.5f}, {3, 0.75f}}},
       .unknown_ids = {"d3", "d5"}},
      DescendingCollection(), {.ties = Ties::kTrec, .run_depth = 5});
  EXPECT_DOUBLE_EQ(evaluation.queries[0].metrics[kMrr], 1.0 / 3);
  EXPECT_DOUBLE_EQ(evaluation.queries[0].metrics[kMap], 1.0 / 3 / 2);
  EXPECT_EQ(FormatTrecRun(evaluation, DescendingCollection()),
            "q0 Q0 d5 1 0.75 run\nq0 Q0 d3 2 0.5 run\nq0 Q0 d2 3 0.5 run\n");
}

TEST(EvaluateTest, ARunFindsRelevantDocumentsOutsideTheCollection) {
  const Evaluation evaluation = EvaluateRun(
      {.rankings = {{{2, 2}, {1, 1}}}, .unknown_ids = {"d1"}},
      DescendingCollection(), {.gain = Gain::kLinear, .ties = Ties::kTrec});
  EXPECT_DOUBLE_EQ(evaluation.queries[0].metrics[kMap], 1);
  EXPECT_DOUBLE_EQ(evaluation.queries[0].metrics[kNdcgAt10], 1);
}

// 333 queries with random scores and judgements over 97 documents.
struct RandomCase {
  Collection collection;
  TableRanker::Table rows;
};

RandomCase MakeRandomCase() {
  std::mt19937 random(5);
  RandomCase result;
  for (int d = 0; d < 97; ++d) {
    result.collection.document_ids.push_back("d" + std::to_string(d));
    result.collection.documents.emplace_back();
  }
  for (int q = 0; q < 333; ++q) {
    const std::string id = "q" + std::to_string(q);
    JudgedQuery query{id, id, {}, {}};
    std::vector<float> row(97);
    for (std::uint32_t d = 0; d < 97; ++d) {
      row[d] = static_cast<float>(random() % 10);
      if (random() % 8 == 0) {
        query.judgements.push_back({d, static_cast<int>(random() % 4)});
      }
    }
    result.rows[id] = row;
    result.collection.queries.push_back(query);
  }
  return result;
}

TEST(EvaluateTest, ResultsDoNotDependOnThreadsOrRunDepth) {
  const RandomCase random = MakeRandomCase();
  const TableRanker ranker("random", random.rows);
  const Evaluation one =
      Evaluate(ranker, random.collection, {.run_depth = 20}, 1);
  const Evaluation three =
      Evaluate(ranker, random.collection, {.run_depth = 20}, 3);
  EXPECT_EQ(one.summary.mean, three.summary.mean);
  EXPECT_EQ(FormatTrecRun(one, random.collection),
            FormatTrecRun(three, random.collection));
  const Evaluation no_run = Evaluate(ranker, random.collection, {}, 2);
  EXPECT_EQ(one.summary.mean, no_run.summary.mean);
}

TEST(EvaluateTest, JudgedEqualsAllWhenEverythingIsJudged) {
  RandomCase random = MakeRandomCase();
  for (JudgedQuery& query : random.collection.queries) {
    std::vector<Judgement> all;
    for (std::uint32_t d = 0; d < 97; ++d) all.push_back({d, 0});
    for (const Judgement& j : query.judgements) all[j.document] = j;
    query.judgements = all;
  }
  const TableRanker ranker("random", random.rows);
  const Evaluation judged =
      Evaluate(ranker, random.collection,
               {.candidates = Candidates::kJudged, .run_depth = 97});
  const Evaluation all =
      Evaluate(ranker, random.collection,
               {.candidates = Candidates::kAll, .run_depth = 97});
  EXPECT_EQ(FormatTrecRun(judged, random.collection),
            FormatTrecRun(all, random.collection));
  EXPECT_EQ(judged.summary.mean, all.summary.mean);
}

}  // namespace
}  // namespace semrank
