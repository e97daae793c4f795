#include "model/eval/tuning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

// Queries a and c like a k1 of 0.3, b and d one of 1.2.
class TuningTest : public ::testing::Test {
 protected:
  TuningTest() {
    collection_.queries = {{"d", "", {}, {}},
                           {"a", "", {}, {}},
                           {"b", "", {}, {}},
                           {"c", "", {}, {}}};
  }
  absl::StatusOr<Evaluation> Evaluate(const RankerOptions& options) {
    Evaluation evaluation;
    for (std::uint32_t q = 0; q < 4; ++q) {
      const std::string& id = collection_.queries[q].id;
      const double best = id == "a" || id == "c" ? 0.3 : 1.2;
      QueryEvaluation query;
      query.query = q;
      query.metrics[kNdcgAt10] = options.bm25.k1 == best ? 1 : 0.5;
      query.metrics[kMrr] = options.bm25.k1;
      evaluation.queries.push_back(query);
    }
    ++num_calls_;
    return evaluation;
  }

  Collection collection_;
  int num_calls_ = 0;
};

TEST_F(TuningTest, EachHalfIsMeasuredWithTheBestValuesOfTheOther) {
  ASSERT_OK_AND_ASSIGN(const TuningResult result,
                       Tune({"bm25_k1"}, {}, collection_,
                            [this](const auto& o) { return Evaluate(o); }));
  // By id: a and c are one half, b and d the other.
  EXPECT_EQ(result.best_on_half[0], "bm25_k1=0.3");
  EXPECT_EQ(result.best_on_half[1], "bm25_k1=1.2");
  EXPECT_EQ(result.evaluation.queries[0].metrics[kMrr], 0.3);
  EXPECT_EQ(result.evaluation.queries[1].metrics[kMrr], 1.2);
  EXPECT_EQ(result.evaluation.summary.mean[kNdcgAt10], 0.5);
}

TEST_F(TuningTest, EveryCombinationIsTried) {
  ASSERT_OK_AND_ASSIGN(const TuningResult result,
                       Tune({"bm25_k1", "bm25_b"}, {}, collection_,
                            [this](const auto& o) { return Evaluate(o); }));
  EXPECT_EQ(num_calls_, 7 * 6);
  EXPECT_EQ(result.best_on_half[0], "bm25_k1=0.3 bm25_b=0");
}

TEST_F(TuningTest, FailureEndsTheSearch) {
  EXPECT_THAT(
      Tune({"bm25_k1"}, {}, collection_,
           [](const auto&) { return absl::CancelledError("interrupted"); }),
      StatusIs(absl::StatusCode::kCancelled));
}

TEST(IsTunableTest, DependsOnTheRanker) {
  EXPECT_TRUE(IsTunable("model+bm25", "bm25_k1"));
  EXPECT_FALSE(IsTunable("letter_tfidf", "bm25_k1"));
  EXPECT_TRUE(IsTunable("model+letter_tfidf", "hybrid_weight"));
  EXPECT_FALSE(IsTunable("model+name_match", "hybrid_weight"));
  EXPECT_TRUE(IsTunable("model+mrf", "dirichlet_mu"));
  EXPECT_FALSE(IsTunable("ulm", "mrf_ordered"));
  EXPECT_TRUE(IsTunable("ptm", "translation_self"));
  EXPECT_FALSE(IsTunable("model:mrf", "mrf_ordered"));
}

}  // namespace
}  // namespace semrank
