#include "model/base/file_io.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::size_t kMaxBytes = 1 << 20;

class FileIoTest : public ::testing::Test {
 protected:
  std::string Content(const std::string& path) {
    return ReadFile(path, kMaxBytes).value_or("unreadable");
  }
  int NumEntries() {
    return static_cast<int>(
        std::distance(std::filesystem::directory_iterator(dir_.path()),
                      std::filesystem::directory_iterator()));
  }
  TempDir dir_;
};

TEST_F(FileIoTest, ReadsWhatWasWritten) {
  const std::string content("a\0b\xff\r\n", 6);
  ASSERT_THAT(WriteFile(dir_.File("f"), content), IsOk());
  EXPECT_EQ(Content(dir_.File("f")), content);
}

TEST_F(FileIoTest, WriteCutsALongerOldFile) {
  const std::string path = dir_.Write("f", "long old content");
  ASSERT_THAT(WriteFile(path, "new"), IsOk());
  EXPECT_EQ(Content(path), "new");
}

TEST_F(FileIoTest, ReadsLargeAndEmptyFiles) {
  const std::string large(300'001, 'x');
  EXPECT_EQ(Content(dir_.Write("large", large)), large);
  EXPECT_EQ(Content(dir_.Write("empty", "")), "");
}

TEST_F(FileIoTest, ReadsFilesThatDoNotKnowTheirSize) {
  EXPECT_THAT(Content("/proc/self/status"), HasSubstr("Pid:"));
}

TEST_F(FileIoTest, MissingFileIsNotFoundWithPathAndReason) {
  EXPECT_THAT(ReadFile(dir_.File("none"), kMaxBytes),
              StatusIs(absl::StatusCode::kNotFound,
                       AllOf(HasSubstr("open " + dir_.File("none")),
                             HasSubstr("No such file"))));
}

TEST_F(FileIoTest, ReadRefusesOneByteMoreThanAllowed) {
  const std::string path = dir_.Write("f", "12345");
  EXPECT_THAT(ReadFile(path, 5), IsOk());
  EXPECT_THAT(ReadFile(path, 4),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr(path), HasSubstr("4 bytes"))));
  EXPECT_THAT(ReadFile("/proc/self/status", 10),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST_F(FileIoTest, FolderIsNoFile) {
  EXPECT_FALSE(ReadFile(dir_.path(), kMaxBytes).ok());
  EXPECT_FALSE(WriteFile(dir_.path(), "x").ok());
  EXPECT_THAT(MappedFile::Open(dir_.path()),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("not a regular file")));
}

TEST_F(FileIoTest, WriteIntoMissingFolderIsNotFound) {
  EXPECT_THAT(WriteFile(dir_.File("none/f"), "x"),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(ReplaceFile(dir_.File("none/f"), "x"),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(SyncDirectory(dir_.File("none")),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(FileIoTest, FullDeviceIsAnError) {
  EXPECT_THAT(WriteFile("/dev/full", "x"),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("write /dev/full")));
}

TEST_F(FileIoTest, DeviceThatCannotBeSyncedIsNoError) {
  EXPECT_THAT(WriteFile("/dev/null", "x"), IsOk());
}

TEST_F(FileIoTest, ReplaceWritesNewFilesAndLeavesNothingElse) {
  ASSERT_THAT(ReplaceFile(dir_.File("f"), "one"), IsOk());
  ASSERT_THAT(ReplaceFile(dir_.File("f"), "two"), IsOk());
  EXPECT_EQ(Content(dir_.File("f")), "two");
  EXPECT_EQ(NumEntries(), 1);
}

TEST_F(FileIoTest, ReplaceKeepsTheOldFileForThoseWhoHaveItMapped) {
  const std::string path = dir_.Write("f", "old");
  ASSERT_OK_AND_ASSIGN(const auto mapped, MappedFile::Open(path));
  ASSERT_THAT(ReplaceFile(path, "new and longer"), IsOk());
  EXPECT_EQ(mapped->content(), "old");
}

TEST_F(FileIoTest, FailedReplaceLeavesTheOldStateAndNoTemporaryFile) {
  ASSERT_TRUE(std::filesystem::create_directory(dir_.File("folder")));
  EXPECT_FALSE(ReplaceFile(dir_.File("folder"), "x").ok());
  EXPECT_TRUE(std::filesystem::is_directory(dir_.File("folder")));
  EXPECT_EQ(NumEntries(), 1);
}

TEST_F(FileIoTest, MapsWholeFilesAndEmptyOnes) {
  const std::string large(100'000, 'x');
  ASSERT_OK_AND_ASSIGN(const auto mapped,
                       MappedFile::Open(dir_.Write("large", large)));
  EXPECT_EQ(mapped->content(), large);
  ASSERT_OK_AND_ASSIGN(const auto empty,
                       MappedFile::Open(dir_.Write("empty", "")));
  EXPECT_EQ(empty->content(), "");
}

TEST_F(FileIoTest, MappingMissingFileIsNotFound) {
  EXPECT_THAT(MappedFile::Open(dir_.File("none")),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(FileIoTest, MappingAPipeIsRefusedWithoutWaiting) {
  ASSERT_EQ(mkfifo(dir_.File("pipe").c_str(), 0600), 0);
  EXPECT_THAT(MappedFile::Open(dir_.File("pipe")),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace semrank
