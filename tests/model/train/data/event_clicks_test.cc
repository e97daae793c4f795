#include "model/train/data/event_clicks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/events/event.h"
#include "model/events/event_files.h"
#include "model/events/event_frames.h"
#include "model/train/data/load_training_data.h"
#include "model/train/start/kept_pairs.h"
#include "tests/model/train/recipe_options.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::int64_t kDayMs = 24 * 60 * 60 * 1000;

class EventClicksTest : public ::testing::Test {
 protected:
  // A list that was shown on a day, and a click on a position; 0 = none.
  void Show(int day, const std::string& query,
            const std::vector<std::string>& titles, std::uint32_t click) {
    Impression impression = {.id = "list" + std::to_string(num_lists_),
                             .time_ms = day * kDayMs + num_lists_ * 1000,
                             .query = query};
    for (const std::string& title : titles) {
      impression.results.push_back({.document = title, .title = title});
    }
    AppendLine(impression, lines_);
    if (click > 0) {
      AppendLine(Event{.id = "click" + std::to_string(num_lists_),
                       .impression = impression.id,
                       .kind = "click",
                       .position = click,
                       .time_ms = impression.time_ms + 10},
                 lines_);
    }
    ++num_lists_;
  }

  const TrainOptions& Options() {
    const std::string folder = dir_.File("events");
    std::filesystem::create_directories(folder);
    std::string file;
    AppendEventFrame(lines_, file);
    dir_.Write("events/" + EventFileName(/*time_ms=*/0, /*number=*/1), file);
    options_.data.event_paths = {folder};
    return options_;
  }

  TempDir dir_;
  std::string lines_;
  int num_lists_ = 0;
  TrainOptions options_ = PlainOptions();
};

TEST_F(EventClicksTest, AreSumsByQueryTitleAndPosition) {
  Show(1, "Red shoe", {"a one", "b two", "..."}, 2);
  Show(1, "red shoe!", {"a one", "b two"}, 2);
  Show(2, "blue", {"b two", "a one"}, 1);
  TextInterner texts;
  ASSERT_OK_AND_ASSIGN(const EventClicks clicks,
                       ReadEventClicks(Options(), texts));
  EXPECT_THAT(clicks.judged, IsEmpty());
  const TextId red = *texts.Find("red shoe"), a = *texts.Find("a one"),
               b = *texts.Find("b two"), blue = *texts.Find("blue");
  EXPECT_THAT(
      clicks.rows,
      ElementsAre(ClickRow{red, a, 1, 0, 2}, ClickRow{red, b, 2, 2, 2},
                  ClickRow{blue, a, 2, 0, 1}, ClickRow{blue, b, 1, 1, 1}));
}

TEST_F(EventClicksTest, TheListsOfTheLastDayJudgeWhereModelsAreCompared) {
  for (int i = 0; i < 8; ++i) Show(1, "red", {"a", "b"}, 1);
  Show(3, "red", {"a", "b"}, 2);
  Show(3, "blue", {"a", "b"}, 0);
  options_.data.judge_fraction = 0.05;
  options_.publish = PublishMode::kIfBetter;
  TextInterner texts;
  ASSERT_OK_AND_ASSIGN(const EventClicks clicks,
                       ReadEventClicks(Options(), texts));
  EXPECT_THAT(clicks.rows, SizeIs(2));
  ASSERT_THAT(clicks.judged, SizeIs(1));
  EXPECT_EQ(clicks.judged[0].query, "red");
  EXPECT_THAT(clicks.judged[0].titles, ElementsAre("a", "b"));
  ASSERT_THAT(clicks.judged[0].clicks, SizeIs(1));
  EXPECT_EQ(clicks.judged[0].clicks[0].place, 1u);
  EXPECT_EQ(clicks.judged[0].clicks[0].position, 2u);
}

// Its model is the start of the next night, which they may judge.
TEST_F(EventClicksTest, AFirstNightLeavesTheLastDayToTheNextOne) {
  for (int i = 0; i < 8; ++i) Show(1, "red", {"a", "b"}, 1);
  Show(3, "red", {"a", "b"}, 2);
  options_.data.judge_fraction = 0.05;
  options_.publish = PublishMode::kAlways;
  TextInterner texts;
  ASSERT_OK_AND_ASSIGN(const EventClicks clicks,
                       ReadEventClicks(Options(), texts));
  ASSERT_THAT(clicks.rows, SizeIs(2));
  EXPECT_EQ(clicks.rows[0].impressions, 8u);
  EXPECT_THAT(clicks.judged, IsEmpty());
}

TEST_F(EventClicksTest, AtMostAFifthOfAllListsJudges) {
  for (int i = 0; i < 10; ++i) Show(1, "red", {"a", "b"}, 1 + i % 2);
  options_.data.judge_fraction = 0.05;
  options_.publish = PublishMode::kIfBetter;
  TextInterner texts;
  ASSERT_OK_AND_ASSIGN(const EventClicks clicks,
                       ReadEventClicks(Options(), texts));
  EXPECT_THAT(clicks.judged, SizeIs(2));
  ASSERT_THAT(clicks.rows, SizeIs(2));
  EXPECT_EQ(clicks.rows[0].impressions, 8u);
}

TEST_F(EventClicksTest, AreTheTrainingPairsOfARun) {
  Show(1, "red", {"a", "b"}, 1);
  Show(1, "blue", {"a", "b"}, 2);
  BadLines bad_lines(10);
  ASSERT_OK_AND_ASSIGN(const TrainingData data,
                       LoadTrainingData(Options(), bad_lines));
  EXPECT_THAT(data.train_pairs, SizeIs(2));
  EXPECT_THAT(data.titles, SizeIs(2));
}

TEST_F(EventClicksTest, ClicksByChanceDoNotComeBackFromAnEarlierNight) {
  // The wanted title of a query is clicked in half of its lists, and each of
  // the others once.
  for (int query = 0; query < 40; ++query) {
    const std::string name = "q" + std::to_string(query);
    for (std::uint32_t i = 0; i < 100; ++i) {
      Show(1, name, {"wanted " + name, "a", "b", "c", "d", "e"},
           i % 2 == 0 ? 1 : (i < 10 ? 2 + i / 2 : 0));
    }
  }
  BadLines bad_lines(10);
  ASSERT_OK_AND_ASSIGN(const TrainingData first,
                       LoadTrainingData(Options(), bad_lines));
  EXPECT_THAT(first.train_pairs, SizeIs(240));
  dir_.Write(kKeptPairsFile, first.kept_pairs);
  options_.initial_model.version_dir = dir_.path();
  options_.features.given =
      std::make_shared<const Featurizer>(first.featurizer);
  options_.features.grows_given = true;
  options_.loss.position_bias = dir_.Write("curve.tsv", "1\t1\n");
  ASSERT_OK_AND_ASSIGN(const TrainingData next,
                       LoadTrainingData(options_, bad_lines));
  EXPECT_THAT(next.train_pairs, SizeIs(40));
  EXPECT_EQ(next.num_kept_pairs, 0);
  EXPECT_EQ(std::ranges::count(next.kept_pairs, '\n'), 40);
}

TEST_F(EventClicksTest, CountForTheLimitWhileTheyAreRead) {
  const std::vector<std::string> titles(200, "a title");
  for (int i = 0; i < 200; ++i) {
    Show(1, "query " + std::to_string(i), titles, 1);
  }
  options_.data.memory_limit = 1'000'000;
  for (const double judge_fraction : {0.0, 0.05}) {
    options_.data.judge_fraction = judge_fraction;
    TextInterner texts;
    EXPECT_THAT(ReadEventClicks(Options(), texts),
                StatusIs(absl::StatusCode::kResourceExhausted,
                         HasSubstr("do not fit in --memory_limit")));
  }
}

TEST_F(EventClicksTest, ClicksOnOneTitleAreAnError) {
  Show(1, "red", {"a", "b"}, 1);
  BadLines bad_lines(10);
  EXPECT_THAT(LoadTrainingData(Options(), bad_lines),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("no clicks on two different titles")));
}

}  // namespace
}  // namespace semrank
