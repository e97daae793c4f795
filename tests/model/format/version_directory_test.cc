#include "model/format/version_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(VersionDirectoryTest, OnlyPlainNumbersAreVersions) {
  EXPECT_EQ(ParseVersionName("1"), 1);
  EXPECT_EQ(ParseVersionName("999999999999999999"), kMaxVersion);
  for (const std::string name :
       {"", "0", "01", "-1", "+1", "1 ", " 1", "1.0", "1e3", "0x1", "latest",
        "2.tmp-17", "1000000000000000000", "99999999999999999999999", "१"}) {
    EXPECT_EQ(ParseVersionName(name), std::nullopt) << name;
  }
}

TEST(VersionDirectoryTest, ListsFoldersInOrderOfNumber) {
  const TempDir dir;
  for (const char* name : {"10", "9", "100", "11.tmp-1", "x"}) {
    fs::create_directory(dir.File(name));
  }
  dir.Write("12", "a file");
  ASSERT_OK_AND_ASSIGN(const auto versions, ListVersionFolders(dir.path()));
  EXPECT_THAT(versions, ElementsAre(9, 10, 100));
  EXPECT_THAT(ListVersionFolders(dir.File("none")),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST(VersionDirectoryTest, ModelIsNamedAfterItsFolder) {
  EXPECT_EQ(ModelNameOf("models/shop"), "shop");
  EXPECT_EQ(ModelNameOf("/models/shop/"), "shop");
  EXPECT_EQ(ModelNameOf("models/shop/."), "shop");
  EXPECT_EQ(ModelNameOf("."), fs::current_path().filename().string());
}

TEST(StagedVersionTest, IsRemovedUnlessPublished) {
  const TempDir dir;
  {
    ASSERT_OK_AND_ASSIGN(auto staged, StagedVersion::Create(dir.path()));
    EXPECT_EQ(staged.path(), dir.File("1.tmp-" + std::to_string(getpid())));
    fs::create_directory(staged.path() + "/sub");
  }
  EXPECT_TRUE(fs::is_empty(dir.path()));
}

TEST(StagedVersionTest, TakesTheNextFreeNumber) {
  const TempDir dir;
  fs::create_directory(dir.File("4"));
  ASSERT_OK_AND_ASSIGN(auto first, StagedVersion::Create(dir.path()));
  ASSERT_OK_AND_ASSIGN(auto second, StagedVersion::Create(dir.path()));
  EXPECT_NE(first.path(), second.path());
  EXPECT_EQ(*second.Publish(), 5);
  // Another writer has taken 6 and has not written anything there yet.
  fs::create_directory(dir.File("6"));
  EXPECT_EQ(*first.Publish(), 7);
  ASSERT_OK_AND_ASSIGN(const auto versions, ListVersionFolders(dir.path()));
  EXPECT_THAT(versions, ElementsAre(4, 5, 6, 7));
}

TEST(StagedVersionTest, KeepsTheFolderOfACrashedWriter) {
  const TempDir dir;
  const std::string left = dir.File("1.tmp-" + std::to_string(getpid()));
  fs::create_directory(left);
  ASSERT_OK_AND_ASSIGN(auto staged, StagedVersion::Create(dir.path()));
  EXPECT_EQ(*staged.Publish(), 1);
  EXPECT_TRUE(fs::is_directory(left));
}

TEST(StagedVersionTest, EndsAtTheHighestNumber) {
  const TempDir dir;
  fs::create_directory(dir.File("999999999999999999"));
  EXPECT_THAT(StagedVersion::Create(dir.path()),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

}  // namespace
}  // namespace semrank
