#include "model/train/run/publication.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace semrank {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// A published model that ranked `num_queries` held-out queries.
TrainingSummary Published(std::size_t num_queries) {
  TrainingSummary summary = {.version_dir = "models/shop/3",
                             .model_dir = "models/shop"};
  summary.best.num_pairs = 4 * static_cast<std::int64_t>(num_queries);
  summary.comparison = RankerComparison{
      .trial = true,
      .num_queries = num_queries,
      .num_titles = 900,
      .bm25 = {.mean = {0, 0, 0.25}, .standard_error = {0, 0, 0.01}},
      .letter_tfidf = {.mean = {0, 0, 0.5}},
      .model = MetricSummary{.mean = {0, 0, 0.75}}};
  return summary;
}

TEST(DescribeResultTest, NamesBaselinesReportAndNextCommand) {
  const std::string text = DescribeResult(Published(300));
  for (const char* part :
       {"NDCG@10 0.7500 ± ", "letter TF-IDF 0.5000 ± ", "BM25 0.2500 ± 0.0100",
        "300 held-out queries among 900 titles",
        "report: models/shop/3/report.html",
        "next: semrank-server --model_dir=models/shop\n"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(text, Not(HasSubstr("pairs teach little")));
}

TEST(DescribeResultTest, FewHeldOutQueriesGiveNoFigures) {
  EXPECT_THAT(DescribeResult(Published(25)),
              AllOf(Not(HasSubstr("NDCG")), Not(HasSubstr("0.75")),
                    HasSubstr("25 held-out queries among 900 titles are too "
                              "few"),
                    HasSubstr("report: models/shop/3/report.html")));
}

TEST(DescribeResultTest, FewJudgedQueriesGiveFiguresAndAWarning) {
  TrainingSummary summary = Published(25);
  summary.comparison->judged = true;
  EXPECT_THAT(DescribeResult(summary),
              AllOf(HasSubstr("NDCG@10 0.7500"), HasSubstr("So few queries")));
}

TEST(DescribeResultTest, HintsAtWhatHelpsWhenPairsAreFew) {
  EXPECT_THAT(DescribeResult(Published(200)),
              AllOf(HasSubstr("Fewer than 1,000 pairs"), HasSubstr("--docs"),
                    HasSubstr("general model")));
}

}  // namespace
}  // namespace semrank
