// What the tests of rankers share.
#ifndef SEMRANK_TESTS_MODEL_EVAL_RANKERS_SCORE_QUERIES_H_
#define SEMRANK_TESTS_MODEL_EVAL_RANKERS_SCORE_QUERIES_H_

#include <gtest/gtest.h>

#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "model/eval/rankers/ranker.h"

namespace semrank {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

inline std::vector<float> ScoresOf(const Ranker& ranker,
                                   std::string_view query) {
  std::vector<float> scores(ranker.num_documents(), -1);
  ranker.ScoreAll(std::span(&query, 1), scores.data());
  return scores;
}

// A tolerance of a few roundings of a float of size 1 to 10.
inline void ExpectNear(const std::vector<float>& scores,
                       const std::vector<double>& want,
                       double tolerance = 2e-6) {
  ASSERT_EQ(scores.size(), want.size());
  for (std::size_t d = 0; d < scores.size(); ++d) {
    EXPECT_NEAR(scores[d], want[d], tolerance) << "document " << d;
  }
}

}  // namespace semrank

#endif  // SEMRANK_TESTS_MODEL_EVAL_RANKERS_SCORE_QUERIES_H_
