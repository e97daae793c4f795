// --memory_limit while training: what is not planned is measured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "model/train/data/memory_budget.h"
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

TEST(ResidentMemoryTest, IsMeasured) {
  const std::int64_t before = ResidentMemory();
  EXPECT_GT(before, 1 << 20);
  const std::string block(32 << 20, 'x');
  EXPECT_GT(ResidentMemory(), before + (24 << 20));
  EXPECT_GE(PeakResidentMemory(), ResidentMemory());
  EXPECT_EQ(block.back(), 'x');
}

}  // namespace
}  // namespace semrank
