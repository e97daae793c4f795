#include "model/train/run/training_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/train/batches/in_memory_batches.h"
#include "model/train/data/load_training_data.h"
#include "model/train/options/resolve_options.h"
#include "model/train/run/make_trainer.h"
#include "tests/model/train/run/trainer_fixture.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;

class TrainingStateTest : public TrainerTest {
 protected:
  TrainingStateTest()
      : pool_(1), checkpoint_({.batches = 1}, options_.data.model_dir, "{}") {
    std::filesystem::create_directories(options_.data.model_dir);
    EXPECT_THAT(ResolveOptions(options_), IsOk());
    BadLines bad_lines(0);
    auto data = LoadTrainingData(options_, bad_lines);
    EXPECT_THAT(data, IsOk());
    data_ = std::make_unique<TrainingData>(*std::move(data));
    batches_ = *InMemoryBatches::Create(options_, *data_);
  }

  TrainingState MakeState() {
    auto trainer = MakeTrainer(options_, *data_, pool_);
    EXPECT_THAT(trainer, IsOk());
    return TrainingState(options_, *std::move(trainer), batches_->num_batches(),
                         checkpoint_, SingleProcess());
  }

  // For the states that are made from now on.
  void SetResume() {
    options_.checkpoint = {.batches = 1, .resume = true};
    checkpoint_ =
        Checkpoint(options_.checkpoint, options_.data.model_dir, "{}");
  }

  // All mini-batches of the next epoch, and its validation loss.
  void RunEpoch(double loss, TrainingState& state) {
    RunHistory& history = state.history();
    ASSERT_THAT(batches_->BeginEpoch(history.epoch(), 0), IsOk());
    for (;;) {
      ASSERT_OK_AND_ASSIGN(const MiniBatch* batch, batches_->Next());
      if (batch == nullptr) break;
      ASSERT_THAT(state.trainer().Step(*batch, {.learning_rate = 0.01,
                                                .number = state.num_steps()}),
                  IsOk());
      ++history.current.num_batches;
    }
    EpochRecord record;
    record.epoch = history.epoch();
    record.validation.loss = loss;
    record.validation.measure = EpochMeasure::kLoss;
    record.score = -loss;
    state.FinishEpoch(record);
  }

  static std::uint64_t WeightsOf(TrainingState& state) {
    return TensorsFingerprint(state.trainer().Weights());
  }

  // A checkpoint orders its tensors by name.
  static std::map<std::string, std::uint64_t> BestByName(TrainingState& state) {
    std::map<std::string, std::uint64_t> fingerprints;
    for (const TensorView& tensor : state.best_weights().views()) {
      fingerprints[tensor.name] = TensorsFingerprint(std::span(&tensor, 1));
    }
    return fingerprints;
  }

  ThreadPool pool_;
  Checkpoint checkpoint_;
  std::unique_ptr<TrainingData> data_;
  std::unique_ptr<BatchSource> batches_;
};

TEST_F(TrainingStateTest, KeepsTheWeightsOfTheBestEpoch) {
  options_.patience = 2;
  TrainingState state = MakeState();
  ASSERT_THAT(state.Begin(), IsOk());
  RunEpoch(2.0, state);
  RunEpoch(1.0, state);
  const std::uint64_t best = WeightsOf(state);
  RunEpoch(1.5, state);
  EXPECT_FALSE(state.ShouldStop());
  RunEpoch(1.5, state);
  EXPECT_TRUE(state.ShouldStop());
  EXPECT_EQ(state.best().epoch, 2);
  EXPECT_NE(WeightsOf(state), best);
  EXPECT_EQ(TensorsFingerprint(state.best_weights().views()), best);
}

TEST_F(TrainingStateTest, AnEpochThatDivergedIsNeverTheBestNorAfterResuming) {
  TrainingState written = MakeState();
  ASSERT_THAT(written.Begin(), IsOk());
  RunEpoch(std::nan(""), written);
  EXPECT_FALSE(written.has_best());
  RunEpoch(3.0, written);
  RunEpoch(std::nan(""), written);
  EXPECT_EQ(written.best().epoch, 2);
  written.WriteCheckpoint();
  SetResume();
  TrainingState resumed = MakeState();
  ASSERT_THAT(resumed.Begin(), IsOk());
  EXPECT_EQ(resumed.best().epoch, 2);
}

TEST_F(TrainingStateTest, IsResumedWhereItWasWritten) {
  TrainingState written = MakeState();
  ASSERT_THAT(written.Begin(), IsOk());
  EXPECT_FALSE(written.resumed());
  written.history().start = absl::UnixEpoch() + absl::Hours(1);
  RunEpoch(1.0, written);
  RunEpoch(2.0, written);
  written.WriteCheckpoint();

  SetResume();
  TrainingState resumed = MakeState();
  EXPECT_NE(WeightsOf(resumed), WeightsOf(written));
  resumed.history().start = absl::Now();
  ASSERT_THAT(resumed.Begin(), IsOk());
  EXPECT_TRUE(resumed.resumed());
  EXPECT_EQ(resumed.history().start, absl::UnixEpoch() + absl::Hours(1));
  EXPECT_EQ(resumed.num_steps(), 2 * batches_->num_batches());
  EXPECT_EQ(resumed.best().epoch, 1);
  EXPECT_EQ(WeightsOf(resumed), WeightsOf(written));
  EXPECT_EQ(BestByName(resumed), BestByName(written));
  // The optimizers too: the next epoch is the same.
  RunEpoch(3.0, written);
  RunEpoch(3.0, resumed);
  EXPECT_EQ(WeightsOf(resumed), WeightsOf(written));

  resumed.RemoveCheckpoint();
  EXPECT_FALSE(checkpoint_.Exists());
}

TEST_F(TrainingStateTest, APositionOutsideTheEpochIsDamage) {
  TrainingState written = MakeState();
  SetResume();
  for (const int excess : {0, 1}) {
    written.history().current.num_batches = batches_->num_batches() + excess;
    written.WriteCheckpoint();
    const auto code =
        excess == 0 ? absl::StatusCode::kOk : absl::StatusCode::kDataLoss;
    EXPECT_EQ(MakeState().Begin().code(), code) << excess;
  }
}

TEST_F(TrainingStateTest, ABestEpochOfOtherShapesIsDamage) {
  TrainingState written = MakeState();
  ASSERT_THAT(written.Begin(), IsOk());
  RunEpoch(1.0, written);
  std::vector<TensorView> views = written.trainer().Weights();
  views[0].shape = {1};
  TensorCopies other;
  other.Assign(views);
  SetResume();
  for (const TensorCopies& best : {other, TensorCopies()}) {
    ASSERT_THAT(checkpoint_.Write(written.history(), written.trainer(), best),
                IsOk());
    EXPECT_THAT(MakeState().Begin(),
                StatusIs(absl::StatusCode::kDataLoss,
                         HasSubstr("has no best." + views[0].name)));
  }
}

TEST_F(TrainingStateTest, ACheckpointIsLeftAloneWithoutResume) {
  TrainingState written = MakeState();
  ASSERT_THAT(written.Begin(), IsOk());
  RunEpoch(1.0, written);
  written.WriteCheckpoint();
  TrainingState fresh = MakeState();
  ASSERT_THAT(fresh.Begin(), IsOk());
  EXPECT_FALSE(fresh.resumed());
  EXPECT_EQ(fresh.num_steps(), 0);
  EXPECT_TRUE(checkpoint_.Exists());
}

}  // namespace
}  // namespace semrank
