// --memory_limit while training: what is not planned is measured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "model/train/data/memory_budget.h"
#include "model/train/run/checkpoint.h"
#include "tests/model/train/run/trainer_fixture.h"
#include "tests/model/train/train_model.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class MemoryLimitTest : public TrainerTest {
 protected:
  // 5,000 pairs in one mini-batch, each with `negatives` candidates.
  absl::StatusOr<TrainingSummary> TrainLargeBatches(int negatives) {
    std::string pairs;
    for (int i = 0; i < 5000; ++i) {
      pairs += Word(i % 50) + " " + Word(i / 50) + "\t" + Word(i % 71) + " " +
               Word(100 + i / 71) + "\n";
    }
    options_.data.train_files = {dir_.Write("many.tsv", pairs)};
    options_.loss = {.sampling = v1::NEGATIVE_SAMPLING_UNIFORM,
                     .negatives = negatives};
    options_.batch_size = 5000;
    options_.epochs = 1;
    options_.force = true;  // of nonsense nothing is learned
    return TrainModel(options_);
  }
};

TEST_F(MemoryLimitTest, ARunThatExceedsItIsRefusedAfterItsFirstMiniBatches) {
  options_.data.memory_limit = 64 << 20;
  EXPECT_THAT(TrainLargeBatches(1000),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr("--memory_limit=67108864"),
                             HasSubstr("--negatives"))));
  EXPECT_FALSE(std::filesystem::exists(dir_.File("models")))
      << "the run had no result";
}

// Every query of validation is the first word of a title, and the pairs teach
// that it is the query of the next one: the model is refused, with a
// checkpoint.
TEST_F(MemoryLimitTest, AResumedRunHasTheLimitOfTheFirstOne) {
  std::string pairs, queries;
  for (int i = 0; i < 24; ++i) {
    const int next = (i + 1) % 24;
    for (int copy = 0; copy < 420; ++copy) {
      pairs += Word(i + 200) + "\t" + Word(next + 200) + " " +
               Word(next + 300) + "\n";
    }
    queries += "q" + std::to_string(i) + "\t" + Word(i + 200) + "\n";
  }
  dir_.Write("pairs.tsv", pairs);
  dir_.Write("queries.tsv", queries);
  options_.features.hash_buckets = 200;
  options_.epochs = 2;
  options_.data.memory_limit = 300'000;  // the pairs are streamed
  EXPECT_THAT(TrainModel(options_),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(MemoryLimitOfCheckpoint(options_.data.model_dir), 300'000);
  EXPECT_EQ(MemoryLimitOfCheckpoint(dir_.File("none")), 0);

  // On a machine whose default is another limit.
  options_.data.memory_limit = 0;
  options_.checkpoint.resume = true;
  options_.force = true;
  ASSERT_OK_AND_ASSIGN(const TrainingSummary resumed, TrainModel(options_));
  options_.data.memory_limit = 300'000;
  options_.data.model_dir = dir_.File("models/other");
  ASSERT_OK_AND_ASSIGN(const TrainingSummary whole, TrainModel(options_));
  EXPECT_TRUE(Weights(resumed) == Weights(whole));
}

TEST_F(MemoryLimitTest, WithoutALimitTheSameRunFinishes) {
  EXPECT_THAT(TrainLargeBatches(1000), IsOk());
}

TEST(DefaultMemoryLimitTest, IsHalfOfTheContainersLimit) {
  const TempDir dir;
  const ControlGroups groups = {dir.path(), dir.Write("list", "0::/\n")};
  DataOptions options;
  EXPECT_GT(MemoryLimit(options, groups), 1 << 20);
  dir.Write("memory.max", "1048576\n");
  EXPECT_EQ(MemoryLimit(options, groups), 1 << 19);
  options.memory_limit = 7 << 20;
  EXPECT_EQ(MemoryLimit(options, groups), 7 << 20);
}

}  // namespace
}  // namespace semrank
