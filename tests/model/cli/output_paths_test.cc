#include "model/cli/output_paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "model/base/file_io.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

class OutputFolderTest : public ::testing::Test {
 protected:
  void Create(const std::string& path) {
    auto created = OutputFolder::Create(path);
    ASSERT_THAT(created, IsOk());
    folder_.emplace(*std::move(created));
    ASSERT_TRUE(std::filesystem::is_directory(path));
  }
  bool HasParent() const { return std::filesystem::exists(dir_.File("a")); }

  TempDir dir_;
  std::string path_ = dir_.File("a/b");
  std::optional<OutputFolder> folder_;
};

TEST_F(OutputFolderTest, RemovesWhatItMadeIfItStaysEmpty) {
  for (const char* suffix : {"", "/"}) {
    Create(path_ + suffix);
    folder_.reset();
    EXPECT_FALSE(HasParent());
  }
}

TEST_F(OutputFolderTest, KeepsAFolderThatWasThere) {
  std::filesystem::create_directories(path_);
  ASSERT_THAT(WriteFile(path_ + "/lock", ""), IsOk());
  Create(path_);
  folder_->RemoveIfAlone({"lock"});
  folder_.reset();
  EXPECT_TRUE(std::filesystem::exists(path_ + "/lock"));
}

TEST_F(OutputFolderTest, KeepsAFolderThatHasResults) {
  Create(path_);
  ASSERT_THAT(WriteFile(path_ + "/lock", ""), IsOk());
  ASSERT_THAT(WriteFile(path_ + "/result", ""), IsOk());
  folder_->RemoveIfAlone({"lock"});
  folder_.reset();
  EXPECT_TRUE(std::filesystem::exists(path_ + "/lock"));
}

TEST_F(OutputFolderTest, RemovesFilesThatAreOfNoUseAlone) {
  Create(path_);
  ASSERT_THAT(WriteFile(path_ + "/lock", ""), IsOk());
  folder_->RemoveIfAlone({"lock", "key"});
  folder_.reset();
  EXPECT_FALSE(HasParent());
}

TEST_F(OutputFolderTest, APathThroughAFileIsAnError) {
  EXPECT_FALSE(OutputFolder::Create(dir_.Write("file", "x") + "/b").ok());
}

}  // namespace
}  // namespace semrank
