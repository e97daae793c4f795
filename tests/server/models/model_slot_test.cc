#include "server/models/model_slot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "server/base/errors.h"
#include "tests/support/memory_source.h"
#include "tests/support/status_matchers.h"
#include "tests/support/tiny_model.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

MATCHER_P2(IsVersion, version, state, "is this version in this state") {
  *result_listener << arg.version << " in state "
                   << static_cast<int>(arg.state);
  return arg.version == version && arg.state == state;
}

class ModelSlotTest : public ::testing::Test {
 protected:
  void Publish(std::int64_t version) {
    folder_.Put(version, MakeTinyModel({.version = version}));
  }
  void PublishDamaged(std::int64_t version) {
    folder_.Put(version, absl::DataLossError("weights are short"));
  }
  std::int64_t CurrentVersion() const {
    const ServedModelPtr current = slot_.current();
    return current == nullptr ? 0 : current->model->version().version;
  }
  ModelSlot MakeSlot(std::int64_t pinned_version) {
    return ModelSlot(
        folder_.Source("tiny"), pinned_version,
        {.number = [](const TwoTowerModel&) { return 0; },
         .loaded =
             [this](const ModelLoad& load) {
               (load.status.ok() ? loaded_ : refused_).push_back(load.version);
             }});
  }

  MemoryFolder folder_;
  std::vector<std::int64_t> loaded_;
  std::vector<std::int64_t> refused_;
  ModelSlot slot_ = MakeSlot(0);
};

TEST_F(ModelSlotTest, AnEmptyFolderIsNotFound) {
  EXPECT_THAT(slot_.Refresh(), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(slot_.current(), nullptr);
  EXPECT_THAT(slot_.List(), IsEmpty());
}

TEST_F(ModelSlotTest, TheHighestVersionIsServedAndNewOnesAreFollowed) {
  Publish(1);
  Publish(2);
  ASSERT_THAT(slot_.Refresh(), IsOk());
  EXPECT_EQ(CurrentVersion(), 2);
  Publish(3);
  ASSERT_THAT(slot_.Refresh(), IsOk());
  EXPECT_EQ(CurrentVersion(), 3);
  EXPECT_THAT(loaded_, ElementsAre(2, 3));
  EXPECT_THAT(slot_.List(), ElementsAre(IsVersion(3, ModelState::kServing),
                                        IsVersion(2, ModelState::kRetired),
                                        IsVersion(1, ModelState::kFound)));
}

TEST_F(ModelSlotTest, ALookThatFindsNothingNewLoadsNothing) {
  Publish(1);
  for (int i = 0; i < 3; ++i) ASSERT_THAT(slot_.Refresh(), IsOk());
  EXPECT_EQ(folder_.num_loads(), 1);
}

TEST_F(ModelSlotTest, ADamagedVersionIsRefusedOnceAndTheNextBestServed) {
  Publish(1);
  PublishDamaged(2);
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(slot_.Refresh(), StatusIs(absl::StatusCode::kDataLoss));
  }
  EXPECT_EQ(CurrentVersion(), 1);
  EXPECT_THAT(refused_, ElementsAre(2));
  const std::vector<ModelStatus> list = slot_.List();
  ASSERT_THAT(list, ElementsAre(IsVersion(2, ModelState::kFailed),
                                IsVersion(1, ModelState::kServing)));
  EXPECT_THAT(list[0].failure, StatusIs(absl::StatusCode::kDataLoss,
                                        HasSubstr("weights are short")));
}

TEST_F(ModelSlotTest, AFolderThatIsStillCopiedIsTriedAgainOnceItHoldsStill) {
  Publish(1);
  ASSERT_THAT(slot_.Refresh(), IsOk());
  for (int i = 0; i < 5; ++i) {
    PublishDamaged(2);  // grows between any two looks
    slot_.Refresh().IgnoreError();
  }
  EXPECT_THAT(refused_, ElementsAre(2));
  Publish(2);
  slot_.Refresh().IgnoreError();
  EXPECT_EQ(CurrentVersion(), 1);
  ASSERT_THAT(slot_.Refresh(), IsOk());
  EXPECT_EQ(CurrentVersion(), 2);
}

TEST_F(ModelSlotTest, AnErrorOfTheSystemIsTriedAgainWithTheSameFiles) {
  Publish(1);
  bool has_memory = false;
  ModelSource source = folder_.Source("tiny");
  source.load = [&](std::int64_t version) -> MemoryFolder::Content {
    if (!has_memory) return absl::ResourceExhaustedError("out of memory");
    return MakeTinyModel({.version = version});
  };
  ModelSlot slot(source, 0,
                 {.number = [](const TwoTowerModel&) { return 0; },
                  .loaded = [](const ModelLoad&) {}});
  EXPECT_THAT(slot.Refresh(), StatusIs(absl::StatusCode::kResourceExhausted));
  has_memory = true;
  EXPECT_THAT(slot.Refresh(), IsOk());
  EXPECT_NE(slot.current(), nullptr);
}

TEST_F(ModelSlotTest, AVersionThatLeavesTheDiskGoesOnBeingServed) {
  Publish(2);
  ASSERT_THAT(slot_.Refresh(), IsOk());
  folder_.Remove(2);
  Publish(1);
  ASSERT_THAT(slot_.Refresh(), IsOk());
  EXPECT_EQ(CurrentVersion(), 2);
}

TEST_F(ModelSlotTest, AnotherModelInTheCurrentFolderIsTaken) {
  Publish(1);
  ASSERT_THAT(slot_.Refresh(), IsOk());
  const ServedModelPtr before = slot_.current();
  Publish(1);
  ASSERT_THAT(slot_.Refresh(), IsOk());
  EXPECT_EQ(slot_.current(), before);
  ASSERT_THAT(slot_.Refresh(), IsOk());
  EXPECT_NE(slot_.current(), before);
}

TEST_F(ModelSlotTest, DamageToTheCurrentFolderIsToldAndTheModelGoesOn) {
  Publish(1);
  ASSERT_THAT(slot_.Refresh(), IsOk());
  EXPECT_THAT(slot_.List()[0].failure, IsOk());
  PublishDamaged(1);
  slot_.Refresh().IgnoreError();
  EXPECT_THAT(slot_.Refresh(), StatusIs(absl::StatusCode::kDataLoss));
  const std::vector<ModelStatus> damaged = slot_.List();
  ASSERT_THAT(damaged, ElementsAre(IsVersion(1, ModelState::kServing)));
  EXPECT_THAT(damaged[0].failure, StatusIs(absl::StatusCode::kDataLoss));
  Publish(1);
  slot_.Refresh().IgnoreError();
  ASSERT_THAT(slot_.Refresh(), IsOk());
  EXPECT_THAT(slot_.List()[0].failure, IsOk());
}

TEST_F(ModelSlotTest, SwitchingBackPinsUntilItIsEnded) {
  Publish(1);
  Publish(2);
  ASSERT_THAT(slot_.Refresh(), IsOk());
  EXPECT_THAT(slot_.SwitchTo(1).value(), true);
  EXPECT_THAT(slot_.SwitchTo(1).value(), false);
  Publish(3);
  ASSERT_THAT(slot_.Refresh(), IsOk());
  EXPECT_EQ(CurrentVersion(), 1);
  EXPECT_TRUE(slot_.List().back().pinned);
  EXPECT_THAT(slot_.SwitchTo(0).value(), true);
  EXPECT_EQ(CurrentVersion(), 3);
  EXPECT_FALSE(slot_.List().front().pinned);
}

TEST_F(ModelSlotTest, UnpinningReturnsToAVersionThatWasRetired) {
  Publish(1);
  Publish(2);
  ASSERT_THAT(slot_.Refresh(), IsOk());
  ASSERT_THAT(slot_.SwitchTo(1), IsOk());
  ASSERT_THAT(slot_.SwitchTo(0), IsOk());
  EXPECT_EQ(CurrentVersion(), 2);
}

TEST_F(ModelSlotTest, AFailedSwitchChangesNothing) {
  Publish(1);
  ASSERT_THAT(slot_.Refresh(), IsOk());
  PublishDamaged(2);
  EXPECT_THAT(slot_.SwitchTo(2), StatusIs(absl::StatusCode::kDataLoss));
  const absl::Status missing = slot_.SwitchTo(9).status();
  EXPECT_THAT(missing,
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("version 9 of model tiny (found 1, 2)")));
  EXPECT_EQ(ErrorReason(missing), "MODEL_NOT_FOUND");
  EXPECT_EQ(CurrentVersion(), 1);
  Publish(3);
  ASSERT_THAT(slot_.Refresh(), IsOk());
  EXPECT_EQ(CurrentVersion(), 3);  // not pinned
}

TEST_F(ModelSlotTest, AVersionPinnedFromTheStartWaitsForThatVersion) {
  ModelSlot pinned = MakeSlot(2);
  Publish(3);
  EXPECT_THAT(pinned.Refresh(),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("no version 2 of model tiny (found 3)")));
  Publish(2);
  pinned.Refresh().IgnoreError();
  ASSERT_THAT(pinned.Refresh(), IsOk());
  EXPECT_EQ(pinned.current()->model->version().version, 2);
}

TEST_F(ModelSlotTest, AModelRetiresWhileARequestHoldsIt) {
  Publish(1);
  ASSERT_THAT(slot_.Refresh(), IsOk());
  ServedModelPtr held = slot_.current();
  Publish(2);
  ASSERT_THAT(slot_.Refresh(), IsOk());
  EXPECT_THAT(slot_.List().back(), IsVersion(1, ModelState::kRetiring));
  held.reset();
  EXPECT_THAT(slot_.List().back(), IsVersion(1, ModelState::kRetired));
}

TEST_F(ModelSlotTest, WhileAVersionLoadsTheOldOneAnswersAndListSaysSo) {
  Publish(1);
  std::promise<void> loading;
  std::promise<void> go_on;
  ModelSource source = folder_.Source("tiny");
  source.load = [&, load = source.load](std::int64_t version) {
    if (version == 2) {
      loading.set_value();
      go_on.get_future().wait();
    }
    return load(version);
  };
  ModelSlot slot(std::move(source), 0,
                 {.number = [](const TwoTowerModel&) { return 0; },
                  .loaded = [](auto&&...) {}});
  ASSERT_THAT(slot.Refresh(), IsOk());
  Publish(2);
  std::thread refresh([&] { EXPECT_THAT(slot.Refresh(), IsOk()); });
  loading.get_future().wait();
  EXPECT_EQ(slot.current()->model->version().version, 1);
  EXPECT_THAT(slot.List(), ElementsAre(IsVersion(2, ModelState::kLoading),
                                       IsVersion(1, ModelState::kServing)));
  go_on.set_value();
  refresh.join();
  EXPECT_EQ(slot.current()->model->version().version, 2);
}

}  // namespace
}  // namespace semrank
