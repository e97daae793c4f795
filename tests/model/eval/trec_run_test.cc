#include "model/eval/trec_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace semrank {
namespace {

using ::testing::ElementsAre;

Collection ThreeDocuments() {
  Collection collection;
  collection.document_ids = {"a", "b", "c"};
  collection.documents.resize(3);
  collection.queries = {{"q1", "", {}, {}}, {"q2", "", {}, {}}};
  return collection;
}

// The scores of a run as another tool reads them.
std::vector<float> ScoresIn(const std::string& run) {
  std::istringstream lines(run);
  std::vector<float> scores;
  std::string query, q0, document, tag;
  int rank = 0;
  float score = 0;
  while (lines >> query >> q0 >> document >> rank >> score >> tag) {
    scores.push_back(score);
  }
  return scores;
}

TEST(TrecRunTest, OneLineADocumentInOrder) {
  Evaluation evaluation;
  evaluation.ranker = "bm25";
  evaluation.queries = {{0, {}, {}, {{2, 1.5f}, {0, 0.25f}}},
                        {1, {}, {}, {{1, -2}}}};
  EXPECT_EQ(FormatTrecRun(evaluation, ThreeDocuments()),
            "q1 Q0 c 1 1.5 bm25\n"
            "q1 Q0 a 2 0.25 bm25\n"
            "q2 Q0 b 1 -2 bm25\n");
}

TEST(TrecRunTest, WrittenScoresAreReadBackTheSame) {
  Evaluation evaluation;
  evaluation.ranker = "model";
  evaluation.queries = {{0, {}, {}, {{0, 0.1f}, {1, 1 / 3.0f}}}};
  std::swap(evaluation.queries[0].run[0], evaluation.queries[0].run[1]);
  EXPECT_THAT(ScoresIn(FormatTrecRun(evaluation, ThreeDocuments())),
              ElementsAre(1 / 3.0f, 0.1f));
}

TEST(TrecRunTest, TiesAreWrittenAsFallingScores) {
  for (const float tied : {1.0f, 0.0f, -0.5f, 1e-35f, 3e7f}) {
    Evaluation evaluation;
    evaluation.ranker = "x";
    QueryEvaluation query;
    for (int i = 0; i < 500; ++i) query.run.push_back({0, tied});
    evaluation.queries = {query};
    const std::vector<float> scores =
        ScoresIn(FormatTrecRun(evaluation, ThreeDocuments()));
    ASSERT_EQ(scores.size(), 500u);
    for (std::size_t i = 1; i < scores.size(); ++i) {
      ASSERT_LT(scores[i], scores[i - 1]) << tied << " at rank " << i + 1;
      // No denormal numbers, which some readers flush to zero.
      ASSERT_GT(std::abs(scores[i]), std::numeric_limits<float>::min());
    }
    EXPECT_NEAR(scores.back(), tied, 1e-4 * std::max(1.0f, std::abs(tied)));
  }
}

}  // namespace
}  // namespace semrank
