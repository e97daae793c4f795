#include "server/models/quality_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/tiny_model.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr KnownFeatures kKnown = {.num_words = 2, .num_known_words = 1};
constexpr KnownFeatures kUnknown = {.num_words = 2};

class QualityMetricsTest : public ::testing::Test {
 protected:
  std::shared_ptr<const ModelQuality> Load(std::int64_t version) {
    return quality_.Add(*MakeTinyModel({.name = "shop", .version = version}));
  }

  Metrics metrics_;
  QualityMetrics quality_{&metrics_};
};

TEST_F(QualityMetricsTest, CountsWhatOneVersionAnswers) {
  const auto quality = Load(3);
  quality->CountAnswer(kKnown, .45f, false);
  quality->CountAnswer(kKnown, .75f, true);
  quality->CountAnswer(kUnknown, {}, false);
  const std::string text = metrics_.Render();
  const std::string labels = "{name=\"shop\",version=\"3\"}";
  EXPECT_THAT(text, HasSubstr("semrank_queries_total" + labels + " 3\n"));
  EXPECT_THAT(text, HasSubstr("queries_unknown_total" + labels + " 1\n"));
  EXPECT_THAT(text, HasSubstr("queries_named_total" + labels + " 1\n"));
  EXPECT_THAT(text, HasSubstr("semrank_top_score_count" + labels + " 2\n"));
  EXPECT_THAT(text, HasSubstr("semrank_top_score_bucket{name=\"shop\","
                              "version=\"3\",le=\"0.5\"} 1\n"));
}

TEST_F(QualityMetricsTest, AVersionStaysWhileARequestUsesIt) {
  auto old = Load(1);
  const auto next = Load(2);
  old->CountAnswer(kKnown, .5f, false);
  EXPECT_THAT(metrics_.Render(), HasSubstr("version=\"1\"} 1\n"));
  old.reset();
  const auto last = Load(3);
  const std::string text = metrics_.Render();
  EXPECT_THAT(text, Not(HasSubstr("version=\"1\"")));
  EXPECT_THAT(text, HasSubstr("version=\"2\""));
}

TEST_F(QualityMetricsTest, AVersionThatIsLoadedAgainCountsOn) {
  Load(1)->CountAnswer(kKnown, .5f, false);
  const auto again = Load(1);
  again->CountAnswer(kKnown, .5f, false);
  Load(1)->CountAnswer(kKnown, .5f, false);
  EXPECT_THAT(metrics_.Render(),
              HasSubstr("semrank_queries_total{name=\"shop\","
                        "version=\"1\"} 3\n"));
}

}  // namespace
}  // namespace semrank
