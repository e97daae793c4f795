#include "model/events/event_deletion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "model/events/event_files.h"
#include "model/events/event_frames.h"
#include "model/events/event_writer.h"
#include "model/events/keyed_hash.h"
#include "tests/support/full_disk.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class EventDeletionTest : public ::testing::Test {
 protected:
  EventDeletionTest() {
    const auto hash = KeyedHash::OpenOrCreate(dir_.path());
    ann_ = (*hash)(HashedKind::kUser, "ann");
    bob_ = (*hash)(HashedKind::kUser, "bob");
  }

  static std::string ListOf(std::string_view id, const std::string& user) {
    std::string line;
    AppendLine(Impression{.id = std::string(id), .user = user}, line);
    return line;
  }
  static std::string ClickOn(std::string_view impression) {
    std::string line;
    AppendLine(Event{.impression = std::string(impression), .kind = "click"},
               line);
    return line;
  }
  std::string WriteFile(std::int64_t number, std::string_view lines) {
    std::string frame;
    AppendEventFrame(lines, frame);
    return dir_.Write(EventFileName(number, number), frame);
  }
  // Ids of impressions, and "click ID".
  std::vector<std::string> Read() {
    std::vector<std::string> records;
    EventFileCounts counts;
    EXPECT_THAT(ForEachEvent(
                    {dir_.path()}, 0,
                    [&](EventRecord& record) {
                      const auto* event = std::get_if<Event>(&record);
                      records.push_back(event != nullptr
                                            ? "click " + event->impression
                                            : std::get<Impression>(record).id);
                      return absl::OkStatus();
                    },
                    counts),
                IsOk());
    return records;
  }

  TempDir dir_;
  std::string ann_, bob_;
};

TEST_F(EventDeletionTest, RemovesImpressionsAndTheirEventsInAllFiles) {
  WriteFile(1, ClickOn("a1") + ListOf("b1", bob_));
  WriteFile(2, ListOf("a1", ann_) + ListOf("n1", "") + ListOf("a2", ann_));
  const std::string untouched = WriteFile(3, ClickOn("b1"));
  struct stat before, after;
  stat(untouched.c_str(), &before);
  ASSERT_OK_AND_ASSIGN(const DeletedRecords deleted,
                       DeleteUser(dir_.path(), "ann", 0));
  EXPECT_EQ(deleted.impressions, 2);
  EXPECT_EQ(deleted.events, 1);
  EXPECT_EQ(deleted.files, 2);
  EXPECT_THAT(Read(), ElementsAre("b1", "n1", "click b1"));
  stat(untouched.c_str(), &after);
  EXPECT_EQ(before.st_ino, after.st_ino);
  // Nothing is left to delete.
  ASSERT_OK_AND_ASSIGN(const DeletedRecords again,
                       DeleteUser(dir_.path(), "ann", 0));
  EXPECT_EQ(again.files, 0);
}

TEST_F(EventDeletionTest, AFileKeepsItsOwnerAndMode) {
  const std::string path =
      WriteFile(1, ListOf("a1", ann_) + ListOf("b1", bob_));
  ASSERT_EQ(chmod(path.c_str(), 0604), 0);
  // Root alone may give a file to another account.
  const bool is_root = geteuid() == 0;
  constexpr uid_t kOther = 65'534;
  if (is_root) {
    ASSERT_EQ(chown(path.c_str(), kOther, kOther), 0);
    ASSERT_EQ(chown(dir_.path().c_str(), kOther, kOther), 0);
  }
  ASSERT_THAT(DeleteUser(dir_.path(), "ann", 0), IsOk());
  EXPECT_THAT(Read(), ElementsAre("b1"));
  struct stat after;
  ASSERT_EQ(stat(path.c_str(), &after), 0);
  EXPECT_EQ(after.st_mode & 0777, 0604U);
  if (!is_root) return;
  EXPECT_EQ(after.st_uid, kOther);
  EXPECT_EQ(after.st_gid, kOther);
  ASSERT_EQ(stat(dir_.File(kEventLockFile).c_str(), &after), 0);
  EXPECT_EQ(after.st_uid, kOther);
}

// zstdcat refuses a file without a frame.
TEST_F(EventDeletionTest, FileOfTheUserAloneIsRemoved) {
  const std::string path = WriteFile(1, ListOf("a1", ann_));
  WriteFile(2, ListOf("b1", bob_));
  ASSERT_OK_AND_ASSIGN(const DeletedRecords deleted,
                       DeleteUser(dir_.path(), "ann", 0));
  EXPECT_EQ(deleted.files, 1);
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_THAT(Read(), ElementsAre("b1"));
}

TEST_F(EventDeletionTest, AnInterruptedCallCanBeRepeated) {
  WriteFile(1, ListOf("a1", ann_));
  // What stays of this file does not fit on the disk.
  std::mt19937 random(1);
  std::string id(4'096, '\0');
  for (char& c : id) c = static_cast<char>('a' + random() % 26);
  WriteFile(2, ClickOn("a1") + ListOf(id, bob_));
  {
    const FullDisk full_disk(1'024);
    EXPECT_FALSE(DeleteUser(dir_.path(), "ann", 0).ok());
  }
  ASSERT_OK_AND_ASSIGN(const DeletedRecords deleted,
                       DeleteUser(dir_.path(), "ann", 0));
  EXPECT_EQ(deleted.events, 1);
  EXPECT_THAT(Read(), ElementsAre(id));
}

// As kill -9 in the middle of a file leaves it.
TEST_F(EventDeletionTest, CopyOfAKilledCallIsRemoved) {
  const std::string path = WriteFile(1, ListOf("b1", bob_));
  const std::string copy = path + ".tmp-7-0";
  std::filesystem::copy_file(path, copy);
  ASSERT_THAT(DeleteUser(dir_.path(), "ann", 0), IsOk());
  EXPECT_FALSE(std::filesystem::exists(copy));
  EXPECT_THAT(Read(), ElementsAre("b1"));
}

TEST_F(EventDeletionTest, FolderOfARunningServerIsRefused) {
  WriteFile(1, ListOf("a1", ann_));
  ASSERT_OK_AND_ASSIGN(const auto lock, LockEventFolder(dir_.path()));
  EXPECT_THAT(DeleteUser(dir_.path(), "ann", 0),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("stop it first")));
  EXPECT_THAT(Read(), ElementsAre("a1"));
}

TEST_F(EventDeletionTest, WhatCannotBeReadIsAnError) {
  WriteFile(1, ListOf("a1", ann_) + "no record\n");
  EXPECT_THAT(DeleteUser(dir_.path(), "ann", 0),
              StatusIs(absl::StatusCode::kInvalidArgument));
  WriteFile(2, ListOf("b1", bob_));
  EXPECT_THAT(DeleteUser(dir_.path(), "ann", 1), IsOk());
  EXPECT_THAT(Read(), ElementsAre("b1"));
}

TEST_F(EventDeletionTest, FolderWithoutKeyIsAnError) {
  const TempDir other;
  EXPECT_THAT(DeleteUser(other.path(), "ann", 0),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/key")));
}

}  // namespace
}  // namespace semrank
