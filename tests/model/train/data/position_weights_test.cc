#include "model/train/data/position_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "model/train/data/load_training_data.h"
#include "tests/model/train/recipe_options.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PositionWeightsTest : public ::testing::Test {
 protected:
  std::string Curve(std::string_view lines) {
    return dir_.Write("curve.tsv", lines);
  }
  absl::StatusOr<TrainingData> Load(std::string_view lines) {
    options_.data.train_files = {dir_.Write("train.tsv", lines)};
    return LoadTrainingData(options_, bad_lines_);
  }

  TempDir dir_;
  BadLines bad_lines_{10};
  TrainOptions options_ = PlainOptions();
};

TEST_F(PositionWeightsTest, ReadsACurveWithAndWithoutErrors) {
  ASSERT_OK_AND_ASSIGN(
      const ExaminationCurve curve,
      ReadExamination(Curve("position\texamination\n2\t.5\n1\t1\n3\t0.75\n")));
  const PositionWeights weights(curve, 10);
  v1::TrainingFacts facts;
  weights.AddTo(facts);
  EXPECT_THAT(facts.examination(), ElementsAre(1, 0.5, 0.75));
  EXPECT_THAT(facts.examination_error(), IsEmpty());
  ASSERT_OK_AND_ASSIGN(const ExaminationCurve with_errors,
                       ReadExamination(Curve("1\t1\t0\n2\t.5\t.125\n")));
  PositionWeights(with_errors, 10).AddTo(facts);
  EXPECT_THAT(facts.examination_error(), ElementsAre(0, 0.125));
}

TEST_F(PositionWeightsTest, AreTheClippedInverseOfTheCurve) {
  const PositionWeights weights({.positions = {{1}, {0.5}, {0.25}, {0.01}}}, 8);
  EXPECT_EQ(weights.Of(1), 1);
  EXPECT_EQ(weights.Of(3), 4);
  EXPECT_EQ(weights.Of(4), 8);
  EXPECT_EQ(weights.Of(400), 8);
  EXPECT_EQ(weights.Of(0), 1);
  EXPECT_EQ(PositionWeights().Of(3), 1);
}

TEST_F(PositionWeightsTest, WeighThePairsAndTheImpressionsOfTheLog) {
  options_.loss.position_bias = Curve("1\t1\n2\t0.5\n3\t0.01\n");
  options_.loss.max_position_weight = 10;
  options_.loss.hard_negatives = 1;
  ASSERT_OK_AND_ASSIGN(const TrainingData data,
                       Load("q\ta\t1\t10\t1\nq\tb\t1\t10\t2\nq\tc\t1\t10\t3\n"
                            "q\td\t0\t10\t1\nr\ta\t1\t1\t2\nr\tb\t1\n"));
  std::vector<float> weights;
  for (const TextPair& pair : data.train_pairs) weights.push_back(pair.weight);
  EXPECT_THAT(weights, ElementsAre(1, 2, 10, 2, 1));
  // The rate of clicks among impressions that were looked at rises from d, a, b
  // to c.
  const TextId q = data.train_pairs[0].query;
  EXPECT_EQ(data.shown.Below(q, data.train_pairs[2].title).size(), 3u);
  EXPECT_EQ(data.shown.Below(q, data.train_pairs[0].title).size(), 1u);
}

TEST_F(PositionWeightsTest, PairsOfChanceAreLeftOutWhereClicksAreCorrected) {
  std::string lines;
  for (int i = 0; i < 200; ++i) {
    const std::string query = "query" + std::to_string(i);
    lines += query + "\twanted" + std::to_string(i % 2) + "\t40\t100\t2\n";
    for (int k = 0; k < 5; ++k) {
      lines += query + "\tother" + std::to_string(k) + "\t1\t100\t1\n";
    }
  }
  ASSERT_OK_AND_ASSIGN(const TrainingData all, Load(lines));
  EXPECT_EQ(all.train_pairs.size(), 1200u);
  options_.loss.position_bias = Curve("1\t1\n2\t0.5\n");
  ASSERT_OK_AND_ASSIGN(const TrainingData corrected, Load(lines));
  EXPECT_EQ(corrected.train_pairs.size(), 200u);
}

TEST_F(PositionWeightsTest, StreamedPairsAreWeightedToo) {
  options_.loss.position_bias = Curve("1\t1\n2\t0.5\n");
  options_.data.memory_limit = std::int64_t{64} << 20;
  options_.data.valid_fraction = 0.5;
  std::string lines;
  for (int i = 0; i < 40; ++i) {
    lines += "query" + std::to_string(i) + "\ttitle" + std::to_string(i) +
             "\t1\t1\t2\n";
  }
  options_.data.train_files = {dir_.Write("train.tsv", lines)};
  ASSERT_OK_AND_ASSIGN(const PositionWeights weights,
                       PositionWeights::Create(options_, {}));
  ASSERT_OK_AND_ASSIGN(const TrainingData data,
                       LoadStreamedData(options_, bad_lines_, weights));
  ASSERT_FALSE(data.valid_pairs.empty());
  for (const TextPair& pair : data.valid_pairs) EXPECT_EQ(pair.weight, 2);
}

TEST_F(PositionWeightsTest, ALogWithoutPositionsIsRefused) {
  options_.loss.position_bias = Curve("1\t1\n");
  EXPECT_THAT(Load("q\ta\nr\tb\t2\t3\n"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("the fifth column")));
  EXPECT_THAT(Load("q\ta\nr\tb\t2\t3\t1\n"), IsOk());
}

class EstimatedWeightsTest : public PositionWeightsTest {
 protected:
  EstimatedWeightsTest() { options_.loss.position_bias = "estimate"; }
};

TEST_F(EstimatedWeightsTest, ALineWithoutImpressionsIsNamed) {
  EXPECT_THAT(Load("q\ta\t1\t10\t1\nr\tb\t2\t0\t1\n"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("train.tsv:2: --position_bias=estimate")));
}

TEST_F(EstimatedWeightsTest, ALogBeyondTheMemoryLimitIsRefused) {
  options_.data.memory_limit = 100'000;
  std::string lines;
  for (int i = 0; i < 1000; ++i) {
    lines += "q" + std::to_string(i) + "\tt\t1\t10\t1\n";
  }
  EXPECT_THAT(Load(lines), StatusIs(absl::StatusCode::kResourceExhausted,
                                    HasSubstr("--position_bias=FILE")));
}

TEST_F(EstimatedWeightsTest, ABadLineIsReportedAndCountedOnce) {
  std::string lines = "no title\n";
  for (int i = 0; i < 200; ++i) {
    const std::string pair =
        "q" + std::to_string(i) + "\tt" + std::to_string(i);
    lines += pair + "\t5\t10\t1\n" + pair + "\t3\t10\t2\n";
  }
  ::testing::internal::CaptureStderr();
  EXPECT_THAT(Load(lines), IsOk());
  const std::string printed = ::testing::internal::GetCapturedStderr();
  const std::size_t first = printed.find("train.tsv:1:");
  EXPECT_NE(first, printed.npos);
  EXPECT_EQ(printed.find("train.tsv:1:", first + 1), printed.npos);
  EXPECT_EQ(bad_lines_.count(), 1);
}

struct BadCurve {
  std::string name;
  std::string lines;
  std::string reason;
};

class BadCurveTest : public PositionWeightsTest,
                     public ::testing::WithParamInterface<BadCurve> {};

TEST_P(BadCurveTest, IsRefusedWithItsReason) {
  EXPECT_THAT(ReadExamination(Curve(GetParam().lines)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr(GetParam().reason)));
}

INSTANTIATE_TEST_SUITE_P(
    Lines, BadCurveTest,
    ::testing::Values(
        BadCurve{"Empty", "", "has no line"},
        BadCurve{"PositionZero", "1\t1\n0\t1\n", ":2: position \"0\""},
        BadCurve{"HugePosition", "10001\t1\n", "1 to 10000"},
        BadCurve{"WordForPosition", "top\t1\n", "position \"top\""},
        BadCurve{"ExaminationZero", "1\t0\n", "examination \"0\""},
        BadCurve{"ExaminationAboveOne", "1\t1.5\n", "examination \"1.5\""},
        BadCurve{"ExaminationNotANumber", "1\tnan\n", "above 0 and at most 1"},
        BadCurve{"MissingPosition", "1\t1\n3\t0.5\n", "position 2 is missing"},
        BadCurve{"FirstMissing", "2\t1\n", "position 1 is missing"},
        BadCurve{"Twice", "1\t1\n1\t0.5\n", ":2: position 1 occurs twice"},
        BadCurve{"OneField", "1\n", "1 field between"},
        BadCurve{"NegativeError", "1\t1\t-1\n", "standard error \"-1\""}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace semrank
