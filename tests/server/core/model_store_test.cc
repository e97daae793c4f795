#include "server/core/model_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "server/core/errors.h"
#include "tests/support/status_matchers.h"
#include "tests/support/tiny_model.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;
using ModelPtr = std::shared_ptr<const TwoTowerModel>;

// Gives every text the same vector, however bad.
class ConstantTower final : public Tower {
 public:
  explicit ConstantTower(float value) : value_(value) {}
  int num_features() const override { return 512; }
  int embedding_dim() const override { return 4; }
  void Embed(const TowerInput& input, TowerScratch& /*scratch*/,
             float* vectors) const override {
    std::fill_n(vectors, input.bags.num_texts() * 4, value_);
  }

 private:
  float value_;
};

ModelPtr ModelOfConstant(float value) {
  const ModelPtr tiny = MakeTinyModel();
  const auto tower = std::make_shared<ConstantTower>(value);
  return TwoTowerModel::Create(tiny->version(), tiny->config(),
                               tiny->featurizer(), tower, tower)
      .value();
}

class ModelStoreTest : public ::testing::Test {
 protected:
  absl::Status Load(absl::StatusOr<ModelPtr> next, std::int64_t version = 0) {
    next_ = std::move(next);
    return store_.Load(version);
  }
  std::int64_t CurrentVersion() {
    return store_.current()->model->version().version;
  }

  Metrics metrics_;
  absl::StatusOr<ModelPtr> next_;
  ModelStore store_{[this](std::int64_t /*version*/) { return next_; },
                    &metrics_};
};

TEST_F(ModelStoreTest, IsUnavailableUntilAModelIsLoaded) {
  EXPECT_EQ(store_.current(), nullptr);
  const absl::Status status = store_.Find("", 0).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(ErrorReason(status), "NO_MODEL");
}

TEST_F(ModelStoreTest, LoadPublishesAndCounts) {
  ASSERT_THAT(Load(MakeTinyModel()), IsOk());
  EXPECT_EQ(CurrentVersion(), 1);
  EXPECT_THAT(metrics_.Render(),
              HasSubstr("semrank_model_load_total{result=\"ok\"} 1\n"));
  EXPECT_THAT(metrics_.Render(), HasSubstr("identity=\"identity-of-seed-1\""));
}

TEST_F(ModelStoreTest, FailedLoadKeepsServingTheOldVersion) {
  ASSERT_THAT(Load(MakeTinyModel()), IsOk());
  EXPECT_THAT(Load(absl::DataLossError("weights.safetensors is short")),
              StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_EQ(CurrentVersion(), 1);
  EXPECT_THAT(metrics_.Render(),
              HasSubstr("semrank_model_load_total{result=\"failed\"} 1\n"));
}

TEST_F(ModelStoreTest, AModelThatFailsItsSelfTestIsNotPublished) {
  EXPECT_THAT(Load(ModelOfConstant(std::nanf(""))),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("NaN")));
  EXPECT_THAT(Load(ModelOfConstant(2)),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("length 4")));
  EXPECT_EQ(store_.current(), nullptr);
}

TEST_F(ModelStoreTest, ZeroAndUnitVectorsPassTheSelfTest) {
  EXPECT_THAT(SelfTest(*ModelOfConstant(0)), IsOk());
  EXPECT_THAT(SelfTest(*ModelOfConstant(0.5)), IsOk());
}

TEST_F(ModelStoreTest, ANewModelReplacesTheOldWhichRequestsKeepAlive) {
  ASSERT_THAT(Load(MakeTinyModel()), IsOk());
  const ServedModelPtr held = store_.current();
  ASSERT_THAT(Load(MakeTinyModel({.version = 2, .seed = 2})), IsOk());
  EXPECT_EQ(CurrentVersion(), 2);
  EXPECT_EQ(held->model->version().version, 1);
}

TEST_F(ModelStoreTest, EqualIdentitiesShareANumberAndOthersNever) {
  std::vector<std::uint32_t> numbers;
  for (const std::uint32_t seed : {1, 2, 1, 3}) {
    ASSERT_THAT(Load(MakeTinyModel({.seed = seed})), IsOk());
    numbers.push_back(store_.current()->number);
  }
  EXPECT_THAT(numbers, ::testing::ElementsAre(0, 1, 0, 2));
}

TEST_F(ModelStoreTest, FindsTheCurrentModelByNameAndVersionOrByNeither) {
  ASSERT_THAT(Load(MakeTinyModel({.version = 3}), 3), IsOk());
  for (const auto& [name, version] :
       {std::pair{"", 0}, {"tiny", 0}, {"", 3}, {"tiny", 3}}) {
    EXPECT_THAT(store_.Find(name, version), IsOk()) << name << version;
  }
  EXPECT_TRUE(store_.current()->pinned);
}

TEST_F(ModelStoreTest, OtherNamesAndVersionsAreNotFoundAndNegativeOnesInvalid) {
  ASSERT_THAT(Load(MakeTinyModel()), IsOk());
  for (const auto& [name, version] : {std::pair{"other", 0}, {"", 2}}) {
    const absl::Status status = store_.Find(name, version).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound));
    EXPECT_EQ(ErrorReason(status), "MODEL_NOT_FOUND");
  }
  EXPECT_THAT(store_.Find("", -1), StatusIs(absl::StatusCode::kInvalidArgument,
                                            HasSubstr("model.version")));
}

}  // namespace
}  // namespace semrank
