// Training in several processes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "model/events/event.h"
#include "model/events/event_files.h"
#include "model/events/event_frames.h"
#include "model/train/batches/negative_sampler.h"
#include "model/train/distributed/exchange.h"
#include "model/train/options/resolve_options.h"
#include "model/train/run/train.h"
#include "model/train/towers/two_tower_trainer.h"
#include "tests/model/train/distributed/thread_communicator.h"
#include "tests/model/train/recipe_options.h"
#include "tests/model/train/run/trainer_fixture.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(CommunicatorTest, SumsAreTakenInTheOrderOfTheProcesses) {
  RunProcesses(3, [](Communicator& communicator) {
    // In another order, 1 would be lost or kept.
    const float parts[] = {1e8f, -1e8f, 1};
    std::vector<float> values(5, parts[communicator.rank()]);
    communicator.AllReduceSum(values);
    EXPECT_THAT(values, ElementsAre(1, 1, 1, 1, 1));
  });
}

TEST(CommunicatorTest, SumsOfMoreThanAMessageAreWhole) {
  RunProcesses(2, [](Communicator& communicator) {
    std::vector<float> values((1 << 20) + 3);
    std::iota(values.begin(), values.end(), 0.0f);
    communicator.AllReduceSum(values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(values[i], 2.0f * static_cast<float>(i)) << i;
    }
  });
}

TEST(CommunicatorTest, AllLearnTheFirstFailure) {
  RunProcesses(3, [](Communicator& communicator) {
    EXPECT_THAT(communicator.Agree(absl::OkStatus()), IsOk());
    const absl::Status own = communicator.rank() == 0
                                 ? absl::OkStatus()
                                 : absl::NotFoundError("no clicks.tsv");
    const absl::Status agreed = communicator.Agree(own);
    EXPECT_THAT(agreed, StatusIs(absl::StatusCode::kNotFound,
                                 HasSubstr("no clicks.tsv")));
    if (communicator.is_first()) {
      EXPECT_THAT(std::string(agreed.message()), HasSubstr("process 2 of 3"));
    }
  });
}

TEST(CommunicatorTest, DifferencesAreFoundByAll) {
  RunProcesses(2, [](Communicator& communicator) {
    EXPECT_THAT(communicator.CheckSame(1ull << 40, "weights"), IsOk());
    const std::uint64_t own = 1ull << (40 + communicator.rank());
    EXPECT_THAT(communicator.CheckSame(own, "weights"),
                StatusIs(absl::StatusCode::kInternal, HasSubstr("weights")));
    EXPECT_EQ(communicator.Broadcast(0.1 + communicator.rank()), 0.1);
    EXPECT_EQ(communicator.Sum(0.1 + communicator.rank()), 0.1 + 1.1);
  });
}

TEST(CommunicatorTest, AllHaveWhatTheFirstHas) {
  RunProcesses(3, [](Communicator& communicator) {
    const bool leads = communicator.is_first();
    EXPECT_EQ(communicator.Broadcast(leads ? "epoch 7" : "a longer text"),
              "epoch 7");
    EXPECT_EQ(communicator.Broadcast(leads ? "" : "text"), "");
    // More than travels at once.
    std::vector<float> values((1 << 20) + 3, leads ? 0.5f : 0.0f);
    values.back() = leads ? 7 : 8;
    communicator.Broadcast(values);
    EXPECT_EQ(std::count(values.begin(), values.end(), 0.5f), (1 << 20) + 2);
    EXPECT_EQ(values.back(), 7);
  });
}

TEST(GradientExchangeTest, RowsOfSeveralProcessesAreAddedUp) {
  RunProcesses(2, [](Communicator& communicator) {
    const bool first = communicator.is_first();
    std::vector<float> dense = {first ? 1.0f : 10.0f};
    RowGradients rows = {.width = 2,
                         .rows = first ? std::vector<std::uint32_t>{7, 2}
                                       : std::vector<std::uint32_t>{2, 9},
                         .values = first ? std::vector<float>{1, 2, 3, 4}
                                         : std::vector<float>{10, 20, 30, 40}};
    ThreadPool pool(1);
    ASSERT_THAT(GradientExchange().Reduce({.dense = {dense}, .sparse = {&rows}},
                                          {pool, communicator}),
                IsOk());
    EXPECT_THAT(dense, ElementsAre(11));
    EXPECT_THAT(rows.rows, ElementsAre(7, 2, 9));
    EXPECT_THAT(rows.values, ElementsAre(1, 2, 13, 24, 30, 40));
  });
}

TEST(BagExchangeTest, BagsFollowInTheOrderOfTheProcesses) {
  RunProcesses(3, [](Communicator& communicator) {
    // The second process has none.
    std::vector<BagBatch> own(3);
    own[0] = {.offsets = {0, 2, 2}, .indices = {7, 1}, .counts = {0.5, 2}};
    own[2] = {.offsets = {0, 1, 3}, .indices = {4, 5, 7}, .counts = {1, 3, 6}};
    BagBatch all;
    ASSERT_THAT(GatherBags(own[communicator.rank()], communicator, all),
                IsOk());
    EXPECT_THAT(all.offsets, ElementsAre(0, 2, 2, 3, 5));
    EXPECT_THAT(all.indices, ElementsAre(7, 1, 4, 5, 7));
    EXPECT_THAT(all.counts, ElementsAre(0.5, 2, 1, 3, 6));
  });
}

struct StepsCase {
  std::string name;
  int num_processes = 2;
  bool shared = true;
  v1::NegativeSampling sampling = v1::NEGATIVE_SAMPLING_IN_BATCH;
  double dropout = 0;
  double clip_norm = 0;
};

class StepsTest : public ::testing::TestWithParam<StepsCase> {
 protected:
  StepsTest() {
    for (int i = 0; i < 40; ++i) words_.push_back("w" + std::to_string(i));
    TextInterner texts;
    Random random(1, RandomPurpose::kPairOrder);
    for (int i = 0; i < 30; ++i) {
      std::string text;
      for (int w = 0; w < 5; ++w) text += words_[random.Below(40)] + " ";
      text.pop_back();
      ids_.push_back(texts.Intern(text));
    }
    bags_.emplace(texts, *Featurizer::Create(
                             std::nullopt, *WordVocabulary::FromList(words_)));
    for (int i = 0; i < 15; ++i) {
      pairs_.push_back({ids_[i], ids_[15 + i]});
      titles_.push_back(ids_[15 + i]);
    }
    options_.tower = {.shared = GetParam().shared,
                      .hidden_dims = {12},
                      .embedding_dim = 6,
                      .activation = v1::ACTIVATION_TANH};
    options_.tower.dropout = GetParam().dropout;
    options_.loss = {
        .sampling = GetParam().sampling, .negatives = 0, .gamma = 5};
    if (GetParam().sampling == v1::NEGATIVE_SAMPLING_UNIFORM) {
      options_.loss.negatives = 4;
    }
    options_.optimizer.gradient_clip_norm = GetParam().clip_norm;
    options_.optimizer.kind = v1::OPTIMIZER_ADAGRAD;
  }

  std::vector<float> WeightsAfterSteps(Communicator& communicator) const {
    ThreadPool pool(2);
    TwoTowerTrainer trainer(InitialTwoTowerWeights(options_.tower, 40, 1),
                            options_, {pool, communicator});
    NegativeSampler sampler(options_.loss, titles_);
    MiniBatch batch;
    batch.bags = &*bags_;
    for (int step = 0; step < 5; ++step) {
      Random random(1, RandomPurpose::kNegatives, step);
      sampler.Sample(pairs_, random, batch);
      EXPECT_THAT(trainer.Step(batch, {.learning_rate = 0.02, .number = step}),
                  IsOk());
    }
    std::vector<float> weights;
    for (const TensorView& tensor : trainer.Weights()) {
      std::size_t size = 1;
      for (const auto length : tensor.shape) size *= length;
      weights.insert(weights.end(), tensor.data, tensor.data + size);
    }
    return weights;
  }

  std::vector<std::string> words_;
  std::vector<TextId> ids_, titles_;
  std::optional<TextBags> bags_;
  std::vector<TextPair> pairs_;
  TrainOptions options_ = PlainOptions();
};

TEST_P(StepsTest, GiveTheWeightsOfOneProcessAndTheSameBitsToAll) {
  const std::vector<float> want = WeightsAfterSteps(SingleProcess());
  std::vector<std::vector<float>> got(GetParam().num_processes);
  RunProcesses(GetParam().num_processes, [&](Communicator& communicator) {
    got[communicator.rank()] = WeightsAfterSteps(communicator);
  });
  for (const std::vector<float>& weights : got) {
    EXPECT_TRUE(weights == got[0]);
    ASSERT_EQ(weights.size(), want.size());
    // Sums in another order; Adagrad's first steps are as long as the rate
    // even for gradients near 0.
    for (std::size_t i = 0; i < want.size(); ++i) {
      EXPECT_NEAR(weights[i], want[i], 2e-4) << i;
    }
  }
}

constexpr auto kUniform = v1::NEGATIVE_SAMPLING_UNIFORM;
constexpr auto kInBatch = v1::NEGATIVE_SAMPLING_IN_BATCH;

INSTANTIATE_TEST_SUITE_P(
    Kinds, StepsTest,
    ::testing::Values(StepsCase{"TwoShared"},
                      StepsCase{"ThreeSeparate", 3, false},
                      StepsCase{"TwoUniform", 2, true, kUniform},
                      StepsCase{"ThreeUniformSeparate", 3, false, kUniform},
                      StepsCase{"TwoDropoutAndClipping", 2, true, kInBatch, 0.2,
                                0.1},
                      StepsCase{"MoreThanPairs", 17, true}),
    [](const auto& tested) { return tested.param.name; });

// Whole runs of two processes, which would wait forever if they did not do the
// same.
class RunOfTwoTest : public TrainerTest {
 protected:
  // The result of each process. `change` is made to its options.
  std::vector<absl::Status> Train(
      const std::function<void(int rank, TrainOptions&)>& change = nullptr) {
    std::vector<absl::Status> results(2);
    RunProcesses(2, [&](Communicator& communicator) {
      TrainOptions options = options_;
      if (change) change(communicator.rank(), options);
      results[communicator.rank()] =
          semrank::Train(options, /*flags=*/{}, communicator).status();
    });
    return results;
  }
};

// The pairs are just enough to choose the epoch by their loss.
TEST_F(RunOfTwoTest, BothReadTheValidationPairs) {
  std::string pairs;
  for (std::size_t i = 0; i < kMinPairsForLoss; ++i) {
    pairs += "new " + Word(i % 24) + "\t" + Word(i % 24 + 200) + " new\n";
  }
  options_.data.valid_pair_files = {dir_.Write("valid.tsv", pairs)};
  options_.data.valid_queries.clear();
  options_.data.valid_docs.clear();
  options_.data.valid_qrels.clear();
  options_.epochs = 1;
  options_.force = true;
  ASSERT_THAT(ResolveOptions(options_), IsOk());
  EXPECT_THAT(Train(), Each(IsOk()));
}

// A file of events, whose last fifth judges.
std::string EventsOfLists(int num_lists) {
  std::string lines;
  for (int i = 0; i < num_lists; ++i) {
    const std::string id = std::to_string(i);
    const std::int64_t time_ms = 1000 * (i + 1);
    AppendLine(
        Impression{.id = id,
                   .time_ms = time_ms,
                   .query = "query " + id,
                   .results = {{.title = "title " + id}, {.title = "other"}}},
        lines);
    AppendLine(Event{.id = "click" + id,
                     .impression = id,
                     .kind = "click",
                     .position = 1,
                     .time_ms = time_ms + 10},
               lines);
  }
  std::string file;
  AppendEventFrame(lines, file);
  return file;
}

TEST_F(RunOfTwoTest, OneWithTooFewNewClicksEndsBoth) {
  const std::string paths[] = {
      dir_.Write(EventFileName(0, 1), EventsOfLists(150)),
      dir_.Write(EventFileName(0, 2), EventsOfLists(20))};
  options_.data.train_files.clear();
  options_.publish = PublishMode::kIfBetter;
  options_.data.judge_fraction = 0.05;
  EXPECT_THAT(Train([&](int rank, TrainOptions& options) {
                options.data.event_paths = {paths[rank]};
              }),
              Each(StatusIs(absl::StatusCode::kInternal,
                            HasSubstr("other training files"))));
}

}  // namespace
}  // namespace semrank
