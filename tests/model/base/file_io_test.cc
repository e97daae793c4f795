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
  EXPECT_THAT(LoadedFile::Read(dir_.path()),
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

TEST_F(FileIoTest, NoFileIsWrittenThroughASymbolicLink) {
  const std::string target = dir_.Write("target", "old");
  const std::string link = dir_.File("link");
  std::filesystem::create_symlink(target, link);
  EXPECT_THAT(WriteFile(link, "new"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("a symbolic link")));
  ASSERT_THAT(ReplaceFile(link, "new"), IsOk());
  EXPECT_EQ(Content(link), "new");
  EXPECT_FALSE(std::filesystem::is_symlink(link));
  EXPECT_EQ(Content(target), "old");
}

TEST_F(FileIoTest, DevicesAndFoldersAreNotReplaced) {
  const std::string device = dir_.File("device");
  std::filesystem::create_symlink("/dev/null", device);
  for (const std::string& path : {device, dir_.path()}) {
    EXPECT_THAT(ReplaceFile(path, "new"),
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         HasSubstr("not a regular file")));
  }
}

TEST_F(FileIoTest, FailedReplaceLeavesTheOldStateAndNoTemporaryFile) {
  ASSERT_TRUE(std::filesystem::create_directory(dir_.File("folder")));
  EXPECT_FALSE(ReplaceFile(dir_.File("folder"), "x").ok());
  EXPECT_TRUE(std::filesystem::is_directory(dir_.File("folder")));
  EXPECT_EQ(NumEntries(), 1);
}

TEST_F(FileIoTest, LoadsWholeFilesAndEmptyOnes) {
  const std::string large(100'000, 'x');
  ASSERT_OK_AND_ASSIGN(const auto loaded,
                       LoadedFile::Read(dir_.Write("large", large)));
  EXPECT_EQ(loaded->content(), large);
  ASSERT_OK_AND_ASSIGN(const auto empty,
                       LoadedFile::Read(dir_.Write("empty", "")));
  EXPECT_EQ(empty->content(), "");
}

TEST_F(FileIoTest, WhatIsLoadedOutlivesChangesOfTheFile) {
  const std::string content(100'000, 'x');
  const std::string path = dir_.Write("f", content);
  ASSERT_OK_AND_ASSIGN(const auto loaded, LoadedFile::Read(path));
  dir_.Write("f", "overwritten in place");
  std::filesystem::resize_file(path, 0);
  EXPECT_EQ(loaded->content(), content);
}

TEST_F(FileIoTest, LoadingTooLargeAFileReadsNothingAndNamesTheLimit) {
  std::filesystem::resize_file(dir_.Write("sparse", ""), 1'000'000'000'000);
  EXPECT_THAT(LoadedFile::Read(dir_.File("sparse"), 1'000),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("larger than the 1000 bytes")));
}

TEST_F(FileIoTest, LoadingMissingFileIsNotFound) {
  EXPECT_THAT(LoadedFile::Read(dir_.File("none")),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(FileIoTest, PipesDevicesAndFoldersAreRefusedWithoutWaiting) {
  ASSERT_EQ(mkfifo(dir_.File("pipe").c_str(), 0600), 0);
  for (const std::string& path :
       {dir_.File("pipe"), std::string("/dev/zero"), dir_.path()}) {
    const auto refusal = StatusIs(absl::StatusCode::kFailedPrecondition,
                                  HasSubstr(path + ": not a regular file"));
    EXPECT_THAT(LoadedFile::Read(path), refusal);
    EXPECT_THAT(ReadFile(path, 100), refusal);
  }
}

TEST_F(FileIoTest, ASymbolicLinkToItselfIsNoUnknownError) {
  std::filesystem::create_symlink("loop", dir_.File("loop"));
  EXPECT_THAT(ReadFile(dir_.File("loop"), 100),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr(dir_.File("loop"))));
}

}  // namespace
}  // namespace semrank
