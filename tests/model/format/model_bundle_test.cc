#include "model/format/model_bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "model/base/file_io.h"
#include "model/format/manifest.h"
#include "model/format/sha256.h"
#include "tests/model/format/tiny_model.h"
#include "tests/support/full_disk.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<float> Embed(const TwoTowerModel& model, Side side) {
  const std::vector<std::string_view> texts = {"cat", "über dog", "car car",
                                               "unknown"};
  EmbedScratch scratch;
  std::vector<float> vectors(texts.size() * model.embedding_dim());
  model.EmbedTexts(side, texts, scratch, vectors.data());
  return vectors;
}

class ModelBundleTest : public ::testing::Test {
 protected:
  std::int64_t Publish(const TinyModelOptions& options = {}) {
    TinyModel model(options);
    const auto version = PublishModel(model_dir_, model.bundle());
    EXPECT_THAT(version, IsOk());
    return version.value_or(-1);
  }
  std::vector<std::int64_t> Versions() {
    const auto versions = ListVersions(model_dir_);
    EXPECT_THAT(versions, IsOk());
    return *versions;
  }
  std::string Path(const std::string& name) { return model_dir_ + "/" + name; }

  const TempDir dir_;
  const std::string model_dir_ = dir_.File("models/tiny");
};

TEST_F(ModelBundleTest, LoadsWhatWasPublished) {
  EXPECT_EQ(Publish(), 1);
  ASSERT_OK_AND_ASSIGN(const auto model, LoadModel(model_dir_));
  EXPECT_EQ(model->version().name, "tiny");
  EXPECT_EQ(model->version().version, 1);
  EXPECT_EQ(model->version().identity,
            *Sha256Hex(*ReadFile(Path("1/MANIFEST.json"), 1 << 20)));
  EXPECT_EQ(model->version().weights_sha256,
            *Sha256Hex(*ReadFile(Path("1/weights.safetensors"), 1 << 20)));
  EXPECT_EQ(model->embedding_dim(), 4);
  EXPECT_EQ(model->config().gamma(), 10);
  EXPECT_NE(Embed(*model, Side::kQuery), Embed(*model, Side::kDocument));
}

TEST_F(ModelBundleTest, AnotherPrecisionIsAnotherIdentity) {
  // Further layers would be multiplied in that precision.
  Publish({.tower = v1::TOWER_KIND_LINEAR, .hidden_dims = {}});
  ASSERT_OK_AND_ASSIGN(const auto exact, LoadModel(model_dir_));
  for (const auto& [precision, suffix] :
       {std::pair(VectorPrecision::kBf16, "-bf16"),
        std::pair(VectorPrecision::kInt8, "-int8")}) {
    ASSERT_OK_AND_ASSIGN(const auto rounded,
                         LoadModel(model_dir_, 1, "", precision));
    EXPECT_EQ(rounded->version().identity, exact->version().identity + suffix);
    std::vector<float> vector = Embed(*exact, Side::kDocument);
    RoundVector(precision, vector);
    EXPECT_EQ(Embed(*rounded, Side::kDocument), vector);
  }
}

TEST_F(ModelBundleTest, KeepsTheModelWhenItsFilesAreDeleted) {
  Publish();
  ASSERT_OK_AND_ASSIGN(const auto model, LoadModel(model_dir_));
  const std::vector<float> before = Embed(*model, Side::kQuery);
  fs::remove_all(model_dir_);
  EXPECT_EQ(Embed(*model, Side::kQuery), before);
}

TEST_F(ModelBundleTest, EveryKindOfModelSurvivesTheRoundTrip) {
  const std::vector<TinyModelOptions> kinds = {
      {.shared_towers = true},
      {.features = v1::FEATURE_KIND_WORDS},
      {.features = v1::FEATURE_KIND_LETTERS_AND_WORDS},
      {.features = v1::FEATURE_KIND_BIGRAMS},
      {.features = v1::FEATURE_KIND_LETTERS_WORDS_AND_BIGRAMS},
      {.hash_buckets = 50},
      {.hidden_dims = {}},
      {.tower = v1::TOWER_KIND_CLSM, .clsm_window = 3},
      {.tower = v1::TOWER_KIND_CLSM,
       .hidden_dims = {6},
       .shared_towers = true,
       .features = v1::FEATURE_KIND_LETTERS_AND_WORDS,
       .clsm_window = 5},
      {.tower = v1::TOWER_KIND_LINEAR, .hidden_dims = {}},
      {.tower = v1::TOWER_KIND_LINEAR,
       .activation = v1::ACTIVATION_IDENTITY,
       .hidden_dims = {}}};
  for (const TinyModelOptions& kind : kinds) {
    const std::int64_t version = Publish(kind);
    ASSERT_OK_AND_ASSIGN(const auto model, LoadModel(model_dir_, version));
    EXPECT_EQ(&model->tower(Side::kQuery) == &model->tower(Side::kDocument),
              kind.shared_towers);
    TinyModel original(kind);
    EXPECT_EQ(model->config().SerializeAsString(),
              original.bundle().config.SerializeAsString());
    EXPECT_EQ(model->featurizer().num_features(),
              original.bundle().featurizer->num_features());
    const std::vector<float> vectors = Embed(*model, Side::kDocument);
    EXPECT_THAT(vectors, ::testing::Contains(::testing::Ne(0.0f)));
  }
}

TEST_F(ModelBundleTest, ALexicalPartMakesFormatVersionTwo) {
  Publish();
  Publish({.lexical_weight = 0.25});
  const auto format_version = [&](int version) {
    return ParseManifest(
               *ReadFile(Path(std::to_string(version) + "/MANIFEST.json"),
                         kMaxManifestBytes))
        ->format_version;
  };
  EXPECT_EQ(format_version(1), 1);
  EXPECT_EQ(format_version(2), 2);
  EXPECT_EQ((*LoadModel(model_dir_, 1))->lexical(), nullptr);
  ASSERT_OK_AND_ASSIGN(const auto model, LoadModel(model_dir_, 2));
  ASSERT_NE(model->lexical(), nullptr);
  EXPECT_EQ(model->lexical()->weight(), 0.25);
  LexicalBatch batch;
  model->lexical()->AppendText("cat", batch);
  EXPECT_EQ(batch.entries.size(), 3u);  // #ca cat at#
}

TEST_F(ModelBundleTest, Int8RowsTakeAQuarterAndAreNearlyTheWeights) {
  TinyModelOptions options = {.tower = v1::TOWER_KIND_LINEAR,
                              .activation = v1::ACTIVATION_IDENTITY,
                              .hidden_dims = {},
                              .embedding_dim = 64,
                              .features = v1::FEATURE_KIND_LETTERS_AND_WORDS,
                              .hash_buckets = 1000,
                              .lexical_weight = 0.5};
  Publish(options);
  options.weights = v1::WEIGHT_ENCODING_INT8;
  Publish(options);
  EXPECT_LT(3.5 * fs::file_size(Path("2/weights.safetensors")),
            fs::file_size(Path("1/weights.safetensors")));
  ASSERT_OK_AND_ASSIGN(const auto exact, LoadModel(model_dir_, 1));
  ASSERT_OK_AND_ASSIGN(const auto coded, LoadModel(model_dir_, 2));
  EXPECT_EQ(coded->config().format_version(), 4u);
  const std::vector<float> expected = Embed(*exact, Side::kDocument);
  const std::vector<float> vectors = Embed(*coded, Side::kDocument);
  // Each weight is off by at most 1/254 of the largest of its row.
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    EXPECT_NEAR(vectors[i], expected[i], 0.02);
  }
  EXPECT_NE(vectors, expected);
}

TEST_F(ModelBundleTest, OnlyTowersOfDenseLayersHaveInt8Weights) {
  TinyModel model({.tower = v1::TOWER_KIND_CLSM,
                   .clsm_window = 3,
                   .weights = v1::WEIGHT_ENCODING_INT8});
  EXPECT_THAT(PublishModel(model_dir_, model.bundle()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("weight_encoding")));
}

TEST_F(ModelBundleTest, OtherFilesLieBesideTheModelAndAreNotListed) {
  TinyModel model;
  model.bundle().other_files = {{"pairs.tsv", "a\tb\t1\n"}, {"empty", ""}};
  ASSERT_THAT(PublishModel(model_dir_, model.bundle()), IsOk());
  EXPECT_EQ(*ReadFile(Path("1/pairs.tsv"), 100), "a\tb\t1\n");
  EXPECT_FALSE(fs::exists(Path("1/empty")));
  EXPECT_THAT(LoadModel(model_dir_), IsOk());
  EXPECT_THAT(*ReadFile(Path("1/MANIFEST.json"), 1 << 16),
              Not(HasSubstr("pairs.tsv")));
}

TEST_F(ModelBundleTest, EqualModelsAreEqualFiles) {
  Publish();
  TinyModel reversed;
  std::reverse(reversed.bundle().tensors.begin(),
               reversed.bundle().tensors.end());
  ASSERT_THAT(PublishModel(model_dir_, reversed.bundle()), IsOk());
  EXPECT_EQ((*LoadModel(model_dir_, 1))->version().identity,
            (*LoadModel(model_dir_, 2))->version().identity);
}

TEST_F(ModelBundleTest, ServesTheHighestCompleteVersion) {
  EXPECT_EQ(Publish({.scale = 1}), 1);
  EXPECT_EQ(Publish({.scale = 2}), 2);
  EXPECT_EQ(Publish({.scale = 3}), 3);
  fs::remove(Path("3/MANIFEST.json"));
  fs::create_directory(Path("9"));
  fs::rename(Path("1"), Path("10.tmp-123"));
  EXPECT_THAT(Versions(), ElementsAre(2));
  ASSERT_OK_AND_ASSIGN(const auto model, LoadModel(model_dir_));
  EXPECT_EQ(model->version().version, 2);
  EXPECT_EQ(Publish(), 10);  // above every number that is taken
}

TEST_F(ModelBundleTest, ALoadedModelOutlivesChangesOfItsFiles) {
  Publish();
  ASSERT_OK_AND_ASSIGN(const auto model, LoadModel(model_dir_));
  const std::vector<float> before = Embed(*model, Side::kQuery);
  for (const auto& file : fs::directory_iterator(Path("1"))) {
    fs::resize_file(file.path(), 0);
  }
  EXPECT_EQ(Embed(*model, Side::kQuery), before);
  EXPECT_THAT(LoadModel(model_dir_), Not(IsOk()));
}

TEST_F(ModelBundleTest, NothingToLoadIsNotFound) {
  EXPECT_THAT(LoadModel(model_dir_), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(ListVersions(model_dir_), StatusIs(absl::StatusCode::kNotFound));
  fs::create_directories(model_dir_);
  EXPECT_THAT(Versions(), IsEmpty());
  EXPECT_THAT(LoadModel(model_dir_),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("no complete")));
  Publish();
  Publish();
  EXPECT_THAT(LoadModel(model_dir_, 99),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("tiny has no version 99 (found 1, 2)")));
  EXPECT_THAT(LoadModel(model_dir_, -1),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(ModelBundleTest, NewerFormatIsListedAndRefused) {
  Publish();
  fs::create_directory(Path("2"));
  ASSERT_THAT(WriteFile(Path("2/MANIFEST.json"), "{\"format_version\": 5}\n"),
              IsOk());
  EXPECT_THAT(Versions(), ElementsAre(1, 2));
  EXPECT_THAT(LoadModel(model_dir_),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("2/MANIFEST.json")));
  EXPECT_THAT(LoadModel(model_dir_, 1), IsOk());
}

TEST_F(ModelBundleTest, MissingOrForeignFilesAreDataLoss) {
  Publish();
  fs::rename(Path("1/ngrams.txt"), Path("1/kept"));
  EXPECT_THAT(LoadModel(model_dir_),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("ngrams.txt")));
  fs::create_directory(Path("1/ngrams.txt"));
  EXPECT_THAT(LoadModel(model_dir_),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("ngrams.txt")));
  fs::remove(Path("1/ngrams.txt"));
  fs::create_symlink("kept", Path("1/ngrams.txt"));
  EXPECT_THAT(LoadModel(model_dir_), IsOk());
}

// A server tries again what the system refused, but not what is damaged.
TEST_F(ModelBundleTest, TooFewDescriptorsAreNoDamage) {
  Publish();
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const absl::Status status = LoadModel(model_dir_, 1).status();
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST_F(ModelBundleTest, BundlesThatDoNotFitAreRefusedBeforeWriting) {
  const auto refused = [&](auto spoil) {
    TinyModel model;
    spoil(model);
    EXPECT_THAT(PublishModel(model_dir_, model.bundle()),
                StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_FALSE(fs::exists(model_dir_));
  };
  refused([](TinyModel& m) { m.bundle().featurizer = nullptr; });
  refused([](TinyModel& m) { m.bundle().tensors.pop_back(); });
  refused([](TinyModel& m) { m.bundle().tensors[1] = m.bundle().tensors[0]; });
  refused([](TinyModel& m) { m.bundle().tensors[0].name = "query.0.bias2"; });
  refused([](TinyModel& m) { m.bundle().tensors[0].shape = {6, 10}; });
  refused([](TinyModel& m) { m.bundle().tensors[0].data = nullptr; });
  refused([](TinyModel& m) { m.bundle().config.set_embedding_dim(5); });
  refused([](TinyModel& m) { m.bundle().config.clear_features(); });
  refused([](TinyModel& m) {
    m.bundle().config.set_tower(static_cast<v1::TowerKind>(99));
  });
  refused([](TinyModel& m) {
    m.bundle().config.mutable_features()->set_num_ngrams(11);
  });
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(),
                          std::numeric_limits<float>::infinity()}) {
    refused([&](TinyModel& m) { m.storage().back().back() = bad; });
  }
}

TEST_F(ModelBundleTest, FileInPlaceOfTheFolderIsAClearError) {
  dir_.Write("file", "");
  TinyModel model;
  const auto under_a_file = PublishModel(dir_.File("file/m"), model.bundle());
  EXPECT_FALSE(under_a_file.ok());
  EXPECT_THAT(std::string(under_a_file.status().message()),
              HasSubstr(dir_.File("file/m")));
  EXPECT_FALSE(PublishModel(dir_.File("file"), model.bundle()).ok());
  EXPECT_FALSE(LoadModel(dir_.File("file")).ok());
}

TEST_F(ModelBundleTest, FailedWriteLeavesNothingBehind) {
  Publish();
  for (const rlim_t bytes : {0, 10, 100, 600, 1000}) {
    TinyModel model;
    {
      const FullDisk full_disk(bytes);
      EXPECT_FALSE(PublishModel(model_dir_, model.bundle()).ok()) << bytes;
    }
    EXPECT_THAT(Versions(), ElementsAre(1));
    EXPECT_EQ(std::distance(fs::directory_iterator(model_dir_), {}), 1);
  }
  EXPECT_EQ(Publish(), 2);
}

TEST_F(ModelBundleTest, RacingWritersGetVersionsOfTheirOwn) {
  constexpr int kWriters = 4, kRounds = 5;
  std::vector<std::thread> threads;
  for (int t = 0; t < kWriters; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kRounds; ++i) Publish({.scale = 1.0 + t});
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<std::int64_t> want(kWriters * kRounds);
  for (std::size_t i = 0; i < want.size(); ++i) want[i] = i + 1;
  EXPECT_EQ(Versions(), want);
  for (const std::int64_t version : want) {
    EXPECT_THAT(LoadModel(model_dir_, version), IsOk());
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(model_dir_), {}),
            kWriters * kRounds);
}

}  // namespace
}  // namespace semrank
