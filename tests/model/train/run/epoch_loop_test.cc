#include "model/train/run/epoch_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/base/interrupt.h"
#include "model/train/batches/in_memory_batches.h"
#include "model/train/batches/negative_sampler.h"
#include "model/train/data/load_training_data.h"
#include "model/train/options/resolve_options.h"
#include "model/train/report/run_files.h"
#include "model/train/run/make_trainer.h"
#include "model/train/validation/trained_model.h"
#include "tests/model/train/run/trainer_fixture.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

// The batches of another source; before number `at`, counted over all epochs,
// `action` says whether they continue.
class WatchedBatches : public BatchSource {
 public:
  WatchedBatches(BatchSource& source, int at,
                 std::function<absl::Status()> action)
      : source_(source), at_(at), action_(std::move(action)) {}

  std::int64_t num_pairs() const override { return source_.num_pairs(); }
  std::int64_t num_batches() const override { return source_.num_batches(); }
  absl::Status BeginEpoch(int epoch, std::int64_t first_batch) override {
    return source_.BeginEpoch(epoch, first_batch);
  }
  absl::StatusOr<const MiniBatch*> Next() override {
    if (count_++ == at_) {
      if (absl::Status status = action_(); !status.ok()) return status;
    }
    return source_.Next();
  }

 private:
  BatchSource& source_;
  int at_;
  std::function<absl::Status()> action_;
  int count_ = 0;
};

// One mini-batch, in each epoch.
class OneBatch : public BatchSource {
 public:
  explicit OneBatch(MiniBatch batch) : batch_(std::move(batch)) {}

  std::int64_t num_pairs() const override { return batch_.num_pairs(); }
  std::int64_t num_batches() const override { return 1; }
  absl::Status BeginEpoch(int, std::int64_t first_batch) override {
    used_ = first_batch > 0;
    return absl::OkStatus();
  }
  absl::StatusOr<const MiniBatch*> Next() override {
    return std::exchange(used_, true) ? nullptr : &batch_;
  }

 private:
  MiniBatch batch_;
  bool used_ = false;
};

class EpochLoopTest : public TrainerTest {
 protected:
  EpochLoopTest() : judged_(options_.data), pool_(1) {
    options_.data.valid_queries.clear();
    options_.data.valid_docs.clear();
    options_.data.valid_qrels.clear();
    options_.data.valid_fraction = 0.25;
    options_.early_stopping = EpochMeasure::kLoss;
    options_.epochs = 3;
    std::filesystem::create_directories(options_.data.model_dir);
  }

  // After the options are set.
  void Prepare() {
    ASSERT_THAT(ResolveOptions(options_), IsOk());
    BadLines bad_lines(0);
    ASSERT_OK_AND_ASSIGN(data_, LoadTrainingData(options_, bad_lines));
    ASSERT_OK_AND_ASSIGN(batches_, InMemoryBatches::Create(options_, *data_));
    ASSERT_OK_AND_ASSIGN(auto queries,
                         Validator::ReadQueries(options_.data, bad_lines));
    ASSERT_OK_AND_ASSIGN(validator_,
                         Validator::Create(options_, *data_, queries));
    ASSERT_OK_AND_ASSIGN(log_, TrainingLog::Open(options_.data.model_dir, 0));
    checkpoint_ = std::make_unique<Checkpoint>(options_.checkpoint,
                                               options_.data.model_dir, "{}");
    ASSERT_OK_AND_ASSIGN(auto trainer, MakeTrainer(options_, *data_, pool_));
    state_ = std::make_unique<TrainingState>(options_, std::move(trainer),
                                             batches_->num_batches(),
                                             *checkpoint_, SingleProcess());
    report_ = {.model_dir = options_.data.model_dir,
               .config = DescribeModel(options_, data_->featurizer),
               .data = data_->statistics,
               .flags = {}};
  }

  absl::StatusOr<bool> Run(BatchSource& batches) {
    return EpochLoop({.options = options_,
                      .batches = batches,
                      .validator = *validator_,
                      .log = log_.get(),
                      .report = report_,
                      .state = *state_,
                      .workers = pool_})
        .Run();
  }

  DataOptions judged_;  // with the fixture's judged queries
  ThreadPool pool_;
  std::optional<TrainingData> data_;
  std::unique_ptr<BatchSource> batches_;
  std::unique_ptr<Validator> validator_;
  std::unique_ptr<TrainingLog> log_;
  std::unique_ptr<Checkpoint> checkpoint_;
  std::unique_ptr<TrainingState> state_;
  ReportContent report_;
};

TEST_F(EpochLoopTest, TrainsValidatesAndLogsEachEpoch) {
  options_.optimizer.decay = v1::LEARNING_RATE_DECAY_LINEAR;
  ASSERT_NO_FATAL_FAILURE(Prepare());
  ASSERT_OK_AND_ASSIGN(const bool finished, Run(*batches_));
  EXPECT_TRUE(finished);
  const auto log = Log();
  ASSERT_THAT(log, SizeIs(3));
  double best = std::numeric_limits<double>::infinity();
  for (int e = 0; e < 3; ++e) {
    EXPECT_EQ(log[e]["epoch"], e + 1);
    EXPECT_EQ(log[e]["pairs"], data_->train_pairs.size());
    const double loss = log[e]["valid_loss"];
    EXPECT_EQ(log[e]["best"], loss < best);
    best = std::min(best, loss);
  }
  EXPECT_LT(log[2]["train_loss"], log[0]["train_loss"]);
  EXPECT_LT(log[2]["learning_rate"], log[0]["learning_rate"]);
  EXPECT_EQ(*state_->best().validation.loss, best);
  EXPECT_TRUE(std::filesystem::exists(options_.data.model_dir + "/" +
                                      std::string(kReportFile)));
}

// Steps too short to change a weight.
TEST_F(EpochLoopTest, StopsAfterPatienceEpochsWithoutABetterOne) {
  options_.optimizer = {.kind = v1::OPTIMIZER_SGD, .learning_rate = 1e-30};
  options_.epochs = 10;
  options_.patience = 2;
  ASSERT_NO_FATAL_FAILURE(Prepare());
  ASSERT_OK_AND_ASSIGN(const bool finished, Run(*batches_));
  EXPECT_TRUE(finished);
  EXPECT_THAT(Log(), SizeIs(3));
  EXPECT_EQ(state_->best().epoch, 1);
}

// Adam's steps are as long as the rate: the next sum of weights overflows.
TEST_F(EpochLoopTest, ALossThatIsNoNumberEndsTheRun) {
  options_.tower.kind = v1::TOWER_KIND_LINEAR;
  options_.tower.hidden_dims.clear();
  options_.optimizer = {.kind = v1::OPTIMIZER_ADAM, .learning_rate = 3e38};
  ASSERT_NO_FATAL_FAILURE(Prepare());
  EXPECT_THAT(Run(*batches_),
              StatusIs(absl::StatusCode::kOutOfRange,
                       HasSubstr("--learning_rate=3e+38 is too high")));
}

TEST_F(EpochLoopTest, AnErrorOfTheBatchesEndsTheRun) {
  ASSERT_NO_FATAL_FAILURE(Prepare());
  WatchedBatches batches(*batches_, /*at=*/4,
                         [] { return absl::DataLossError("changed"); });
  EXPECT_THAT(Run(batches),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("changed")));
  EXPECT_THAT(Log(), SizeIs(1));
}

// Four pairs are trained on; a feature that they do not have is NaN, so that
// only validation meets it.
class DivergedTest : public EpochLoopTest,
                     public ::testing::WithParamInterface<bool> {};

INSTANTIATE_TEST_SUITE_P(Validations, DivergedTest, ::testing::Bool(),
                         [](const auto& judged) {
                           return judged.param ? "Ranking" : "Loss";
                         });

TEST_P(DivergedTest, ARunWhoseValidationIsNeverANumberHasNoBestEpoch) {
  options_.tower.kind = v1::TOWER_KIND_LINEAR;
  options_.tower.hidden_dims.clear();
  if (GetParam()) {
    options_.data = judged_;
    options_.early_stopping = EpochMeasure::kNdcg;
  } else {
    options_.data.valid_pair_files = options_.data.train_files;
  }
  options_.data.valid_fraction = 0;
  ASSERT_NO_FATAL_FAILURE(Prepare());
  MiniBatch batch;
  Random random(1, RandomPurpose::kNegatives);
  NegativeSampler(options_.loss, data_->titles)
      .Sample(std::span(data_->train_pairs).first(4), random, batch);
  batch.bags = &data_->bags;
  const auto features_of = [this](TextId text) {
    BagBatch bag;
    EXPECT_THAT(data_->bags.Layout(std::span(&text, 1), bag), IsOk());
    data_->bags.Fill(std::span(&text, 1), 0, 1, bag);
    return bag.indices;
  };
  std::vector<std::uint32_t> trained;
  for (const auto* texts : {&batch.queries, &batch.titles}) {
    for (const TextId text : *texts) {
      const auto features = features_of(text);
      trained.insert(trained.end(), features.begin(), features.end());
    }
  }
  const auto others = features_of(data_->train_pairs.back().title);
  const auto other = std::ranges::find_if(others, [&](std::uint32_t feature) {
    return std::ranges::find(trained, feature) == trained.end();
  });
  ASSERT_NE(other, others.end());
  state_->trainer().State()[0].values[*other * options_.tower.embedding_dim] =
      std::numeric_limits<float>::quiet_NaN();
  OneBatch batches(std::move(batch));
  EXPECT_THAT(Run(batches), StatusIs(absl::StatusCode::kOutOfRange,
                                     HasSubstr("validation gave no number")));
  EXPECT_THAT(Log(), SizeIs(3));
  EXPECT_FALSE(state_->has_best());
}

// In processes of their own: the flag of a signal stays set.
using EpochLoopDeathTest = EpochLoopTest;

TEST_F(EpochLoopDeathTest, CtrlCKeepsTheFinishedEpochs) {
  ASSERT_NO_FATAL_FAILURE(Prepare());
  const auto run = [this] {
    CatchInterrupts();
    WatchedBatches batches(*batches_, /*at=*/4, [] {
      raise(SIGINT);
      return absl::OkStatus();
    });
    const absl::StatusOr<bool> finished = Run(batches);
    const bool kept = finished.ok() && !*finished && state_->has_best();
    std::exit(kept ? 10 : 11);
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(10), "interrupted in epoch 2");
}

TEST_F(EpochLoopDeathTest, CtrlCInTheFirstEpochLeavesNothingToPublish) {
  ASSERT_NO_FATAL_FAILURE(Prepare());
  const auto run = [this] {
    CatchInterrupts();
    WatchedBatches batches(*batches_, /*at=*/1, [] {
      raise(SIGINT);
      return absl::OkStatus();
    });
    std::exit(absl::IsCancelled(Run(batches).status()) ? 10 : 11);
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(10), "");
}

}  // namespace
}  // namespace semrank
