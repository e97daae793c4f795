#include "server/models/model_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "model/base/file_io.h"
#include "server/models/model_store.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/support/tiny_model.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ModelSourceTest : public ::testing::Test {
 protected:
  ModelSourceTest() { PublishTinyModel(model_dir_); }

  std::string File(int version, const std::string& name) const {
    return model_dir_ + "/" + std::to_string(version) + "/" + name;
  }
  // Version 2, complete.
  void PublishSecond() {
    ASSERT_EQ(PublishTinyModel(model_dir_, {.seed = 2}), 2);
  }
  // What a store that serves version 1 makes of version 2.
  ModelStatus TrySecond() {
    store_.Refresh().IgnoreError();
    EXPECT_EQ(store_.current()->model->version().version, 1);
    return store_.Describe("", 2).value();
  }

  const TempDir dir_;
  const std::string model_dir_ = dir_.File("tiny");
  Metrics metrics_;
  ModelStore store_{{{FolderSource(model_dir_)}}, &metrics_};
};

TEST_F(ModelSourceTest, ListsAndLoadsTheFolderUnderItsNameOrAnother) {
  PublishSecond();
  std::filesystem::remove(File(2, "MANIFEST.json"));
  const ModelSource source = FolderSource(model_dir_);
  EXPECT_EQ(source.name, "tiny");
  EXPECT_THAT(source.list().value(), ElementsAre(1, 2));
  EXPECT_THAT(source.list_complete().value(), ElementsAre(1));
  EXPECT_EQ(source.load(1).value()->version().name, "tiny");
  EXPECT_EQ(FolderSource(model_dir_, "b").load(1).value()->version().name, "b");
}

TEST_F(ModelSourceTest, RejectedVersionsAreNumberedThrough) {
  const ModelSource source = FolderSource(model_dir_);
  EXPECT_EQ(source.num_rejected(), 0);
  std::filesystem::create_directories(model_dir_ + "/rejected/11");
  std::filesystem::create_directories(model_dir_ + "/rejected/9");
  ASSERT_THAT(WriteFile(model_dir_ + "/rejected/note", "no folder"), IsOk());
  EXPECT_EQ(source.num_rejected(), 11);
  ASSERT_THAT(store_.Refresh(), IsOk());
  EXPECT_THAT(metrics_.Render(),
              HasSubstr("semrank_model_rejected_versions{name=\"tiny\"} 11\n"));
}

TEST_F(ModelSourceTest, AStampChangesWithAnyFileAndOnlyThen) {
  const ModelSource source = FolderSource(model_dir_);
  const std::string before = source.stamp(1);
  EXPECT_NE(before, "");
  EXPECT_EQ(source.stamp(1), before);
  std::filesystem::resize_file(File(1, "weights.safetensors"), 10);
  EXPECT_NE(source.stamp(1), before);
  EXPECT_EQ(source.stamp(2), "");
}

TEST_F(ModelSourceTest, AHalfCopiedFolderIsRefusedAndTakenOnceItIsWhole) {
  ASSERT_THAT(store_.Refresh(), IsOk());
  PublishSecond();
  const std::string weights = File(2, "weights.safetensors");
  std::filesystem::rename(weights, dir_.File("on_its_way"));
  EXPECT_THAT(TrySecond().failure, StatusIs(absl::StatusCode::kDataLoss,
                                            HasSubstr("weights.safetensors")));
  std::filesystem::rename(dir_.File("on_its_way"), weights);
  EXPECT_EQ(TrySecond().state, ModelState::kFailed);
  ASSERT_THAT(store_.Refresh(), IsOk());
  EXPECT_EQ(store_.current()->model->version().version, 2);
}

TEST_F(ModelSourceTest, AFolderWithoutManifestIsBeingWritten) {
  ASSERT_THAT(store_.Refresh(), IsOk());
  PublishSecond();
  const std::string manifest = File(2, "MANIFEST.json");
  std::filesystem::rename(manifest, dir_.File("on_its_way"));
  const ModelStatus status = TrySecond();
  EXPECT_EQ(status.state, ModelState::kFound);
  EXPECT_THAT(status.failure, StatusIs(absl::StatusCode::kUnavailable,
                                       HasSubstr("is being written")));
  EXPECT_THAT(store_.Refresh(), IsOk());
  EXPECT_THAT(metrics_.Render(),
              HasSubstr("semrank_model_load_total{result=\"failed\"} 0\n"));
  std::filesystem::rename(dir_.File("on_its_way"), manifest);
  ASSERT_THAT(store_.Refresh(), IsOk());
  EXPECT_EQ(store_.current()->model->version().version, 2);
  EXPECT_THAT(store_.Describe("", 2)->failure, IsOk());
}

TEST_F(ModelSourceTest, ADeletedVersionLeavesTheListOnceItIsNotInMemory) {
  ASSERT_THAT(store_.Refresh(), IsOk());
  PublishSecond();
  ASSERT_THAT(store_.Refresh(), IsOk());
  std::filesystem::remove_all(model_dir_);
  std::filesystem::create_directory(model_dir_);
  const std::vector<ModelStatus> list = store_.List("").value();
  ASSERT_EQ(list.size(), 1);
  EXPECT_EQ(list[0].version, 2);
}

TEST_F(ModelSourceTest, AFolderOfModelsNamesThemAndTheFlag) {
  PublishTinyModel(dir_.File("news"));
  EXPECT_THAT(FolderSource(dir_.path()).list(),
              StatusIs(absl::StatusCode::kNotFound,
                       ::testing::AllOf(
                           HasSubstr("holds news, tiny: choose one, such as"),
                           HasSubstr("--model_dir=news=" + dir_.File("news") +
                                     ",tiny=" + model_dir_))));
  EXPECT_THAT(FolderSource(model_dir_ + "/1").list(),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("1 is version 1 of " + model_dir_ + ": give " +
                                 model_dir_)));
}

TEST_F(ModelSourceTest, TruncatedWeightsAreRefusedByName) {
  ASSERT_THAT(store_.Refresh(), IsOk());
  PublishSecond();
  std::filesystem::resize_file(File(2, "weights.safetensors"), 1000);
  EXPECT_THAT(TrySecond().failure, StatusIs(absl::StatusCode::kDataLoss,
                                            HasSubstr("weights.safetensors")));
  EXPECT_THAT(metrics_.Render(),
              HasSubstr("semrank_model_load_total{result=\"failed\"} 1\n"));
}

TEST_F(ModelSourceTest, ANewerFormatIsRefusedByNameAndTheOldVersionGoesOn) {
  ASSERT_THAT(store_.Refresh(), IsOk());
  std::filesystem::create_directory(model_dir_ + "/2");
  ASSERT_THAT(WriteFile(File(2, "MANIFEST.json"), "{\"format_version\": 5}\n"),
              IsOk());
  EXPECT_THAT(TrySecond().failure,
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr(File(2, "MANIFEST.json"))));
}

// Whole files with right checksums that do not belong together.
TEST_F(ModelSourceTest, WeightsOfAnotherDimensionAreRefusedByName) {
  ASSERT_THAT(store_.Refresh(), IsOk());
  PublishSecond();
  const std::string wide_dir = dir_.File("wide");
  ASSERT_EQ(PublishTinyModel(wide_dir, {.embedding_dim = 32}), 1);
  constexpr char kWeights[] = "weights.safetensors";
  const auto manifest = [](const std::string& path) {
    return nlohmann::json::parse(ReadFile(path, 1 << 16).value());
  };
  nlohmann::json mixed = manifest(File(2, "MANIFEST.json"));
  mixed[kWeights] = manifest(wide_dir + "/1/MANIFEST.json")[kWeights];
  std::filesystem::copy_file(wide_dir + "/1/" + kWeights, File(2, kWeights),
                             std::filesystem::copy_options::overwrite_existing);
  ASSERT_THAT(WriteFile(File(2, "MANIFEST.json"), mixed.dump() + "\n"), IsOk());
  EXPECT_THAT(TrySecond().failure,
              StatusIs(absl::StatusCode::kDataLoss,
                       ::testing::AllOf(HasSubstr(File(2, kWeights)),
                                        HasSubstr("query.1.weight"))));
}

}  // namespace
}  // namespace semrank
