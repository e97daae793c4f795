#include "server/models/model_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>
#include <vector>

#include "server/base/errors.h"
#include "server/models/model_slot.h"
#include "server/vectors/document_vector_cache.h"
#include "tests/support/memory_source.h"
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
  ModelStoreTest() { Publish(shop_, {.name = "shop"}); }

  void Publish(MemoryFolder& folder, const TinyModelOptions& options) {
    folder.Put(options.version, MakeTinyModel(options));
  }

  Metrics metrics_;
  MemoryFolder shop_;
  MemoryFolder news_;
  std::unique_ptr<DocumentVectorCache> cache_ =
      DocumentVectorCache::Create(1 << 20).value();
  std::vector<ModelLoad> loads_;
  ModelStore store_{
      {{shop_.Source("shop")}, {news_.Source("news")}},
      &metrics_,
      {.loaded = [this](const ModelLoad& load) { loads_.push_back(load); },
       .published =
           [this](std::span<const std::uint32_t> now) {
             cache_->DropModelsExcept(now);
           }}};
};

TEST_F(ModelStoreTest, IsUnavailableUntilAModelIsLoaded) {
  EXPECT_EQ(store_.current(), nullptr);
  const absl::Status status = store_.Find("", 0).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(ErrorReason(status), "NO_MODEL");
}

TEST(ModelAliasTest, AnAliasNamesTheModelInEveryCall) {
  MemoryFolder shop;
  MemoryFolder news;
  shop.Put(1, MakeTinyModel({.name = "shop"}));
  news.Put(1, MakeTinyModel({.name = "news"}));
  Metrics metrics;
  ModelStore store(
      {{shop.Source("shop"), 0, {"rerank-v3.5", "ada"}}, {news.Source("news")}},
      &metrics);
  ASSERT_THAT(store.Refresh(), IsOk());
  EXPECT_EQ(store.Find("ada", 0).value(), store.Find("shop", 1).value());
  EXPECT_EQ(store.Describe("rerank-v3.5", 0)->name, "shop");
  EXPECT_EQ(store.Reload("ada", 0)->model.name, "shop");
  EXPECT_EQ(store.List("ada")->front().name, "shop");
  EXPECT_THAT(store.Describe("shop", 0)->aliases,
              ::testing::ElementsAre("ada", "rerank-v3.5"));
  EXPECT_THAT(store.Describe("news", 0)->aliases, ::testing::IsEmpty());
  EXPECT_EQ(store.NameOf("ada"), "shop");
  EXPECT_EQ(store.NameOf("none"), "none");
}

TEST_F(ModelStoreTest, RefreshNamesAModelThatIsMissingAndServesTheOthers) {
  EXPECT_THAT(store_.Refresh(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("news")));
  EXPECT_THAT(store_.Find("shop", 0), IsOk());
  EXPECT_THAT(store_.Find("news", 0), StatusIs(absl::StatusCode::kUnavailable));
  Publish(news_, {.name = "news"});
  EXPECT_THAT(store_.Refresh(), IsOk());
  EXPECT_THAT(store_.Find("news", 0), IsOk());
}

TEST_F(ModelStoreTest, EveryLoadIsCountedAndTold) {
  Publish(news_, {.name = "news", .seed = 2});
  ASSERT_THAT(store_.Refresh(), IsOk());
  shop_.Put(2, absl::DataLossError("weights.safetensors is short"));
  ASSERT_THAT(store_.Refresh(), IsOk());
  const std::string text = metrics_.Render();
  EXPECT_THAT(text, HasSubstr("semrank_model_load_total{result=\"ok\"} 2\n"));
  EXPECT_THAT(text,
              HasSubstr("semrank_model_load_total{result=\"failed\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("sha256=\"identity-of-seed-1\""));
  EXPECT_THAT(text, HasSubstr("sha256=\"identity-of-seed-2\""));
  ASSERT_EQ(loads_.size(), 3u);
  EXPECT_EQ(loads_[2].name, "shop");
  EXPECT_EQ(loads_[2].version, 2);
  EXPECT_EQ(loads_[2].previous_version, 1);
  EXPECT_THAT(loads_[2].status, StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(ModelStoreTest, AModelThatFailsItsSelfTestIsNotPublished) {
  for (const auto& [value, message] :
       {std::pair{std::nanf(""), "NaN"}, {2.f, "length 4"}}) {
    news_.Put(1, ModelOfConstant(value));
    EXPECT_THAT(store_.Reload("news", 1),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr(message)));
  }
  EXPECT_THAT(store_.Find("news", 0), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(ModelStoreTest, ZeroAndUnitVectorsPassTheSelfTest) {
  EXPECT_THAT(SelfTest(*ModelOfConstant(0)), IsOk());
  EXPECT_THAT(SelfTest(*ModelOfConstant(0.5)), IsOk());
}

TEST_F(ModelStoreTest, EqualIdentitiesShareANumberAndOthersNever) {
  std::vector<std::uint32_t> numbers;
  std::int64_t version = 0;
  for (const std::uint32_t seed : {1, 2, 1, 3}) {
    Publish(shop_, {.name = "shop", .version = ++version, .seed = seed});
    store_.Refresh().IgnoreError();
    numbers.push_back(store_.current()->number);
  }
  EXPECT_THAT(numbers, ::testing::ElementsAre(0, 1, 0, 2));
}

TEST_F(ModelStoreTest, VectorsOfAModelLeaveTheCacheWithIt) {
  store_.Refresh().IgnoreError();
  VectorKey key;
  key.model = store_.current()->number;
  const std::vector<float> vector(16, 0.25f);
  cache_->Insert({&key, 1}, {16}, vector.data());
  Publish(shop_, {.name = "shop", .version = 2, .seed = 2});
  EXPECT_EQ(cache_->GetStats().num_entries, 1u);
  store_.Refresh().IgnoreError();
  EXPECT_EQ(cache_->GetStats().num_entries, 0u);
}

TEST_F(ModelStoreTest, FindsTheCurrentModelByNameAndVersionOrByNeither) {
  Publish(shop_, {.name = "shop", .version = 3});
  Publish(news_, {.name = "news", .version = 7});
  ASSERT_THAT(store_.Refresh(), IsOk());
  for (const auto& [name, version, found] :
       {std::tuple{"", 0, 3}, {"shop", 0, 3}, {"", 3, 3}, {"news", 7, 7}}) {
    ASSERT_THAT(store_.Find(name, version), IsOk()) << name << version;
    EXPECT_EQ((*store_.Find(name, version))->model->version().version, found);
  }
}

TEST_F(ModelStoreTest, OtherNamesAndVersionsAreNotFoundAndNegativeOnesInvalid) {
  store_.Refresh().IgnoreError();
  for (const auto& [name, version] : {std::pair{"other", 0}, {"", 2}}) {
    const absl::Status status = store_.Find(name, version).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound));
    EXPECT_EQ(ErrorReason(status), "MODEL_NOT_FOUND");
  }
  EXPECT_THAT(store_.Find("", -1), StatusIs(absl::StatusCode::kInvalidArgument,
                                            HasSubstr("model.version")));
}

TEST_F(ModelStoreTest, ReloadTellsWhatWasAndWhatIs) {
  Publish(shop_, {.name = "shop", .version = 2});
  store_.Refresh().IgnoreError();
  ASSERT_OK_AND_ASSIGN(const ModelStore::Reloaded back,
                       store_.Reload("shop", 1));
  EXPECT_EQ(back.model.version, 1);
  EXPECT_TRUE(back.model.pinned && back.model.current && back.changed);
  EXPECT_TRUE(back.model.is_default);
  EXPECT_EQ(back.previous_version, 2);
  ASSERT_OK_AND_ASSIGN(const ModelStore::Reloaded again, store_.Reload("", 1));
  EXPECT_FALSE(again.changed);
  EXPECT_THAT(store_.Reload("other", 0), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(store_.Reload("shop", -1),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(ModelStoreTest, ListsByNameThenNewestFirstAndDescribesEach) {
  Publish(shop_, {.name = "shop", .version = 2});
  Publish(news_, {.name = "news", .version = 5});
  ASSERT_THAT(store_.Refresh(), IsOk());
  std::vector<std::string> listed;
  ASSERT_OK_AND_ASSIGN(const std::vector<ModelStatus> list, store_.List(""));
  for (const ModelStatus& model : list) {
    listed.push_back(model.name + "/" + std::to_string(model.version));
  }
  EXPECT_THAT(listed, ::testing::ElementsAre("news/5", "shop/2", "shop/1"));
  EXPECT_EQ(store_.List("shop")->size(), 2u);
  EXPECT_THAT(store_.List("other"),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("there is shop (the default), news")));
  EXPECT_EQ(store_.Describe("shop", 1)->state, ModelState::kFound);
  EXPECT_EQ(store_.Describe("", 0)->version, 2);
  EXPECT_THAT(store_.Describe("", 9), StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace semrank
