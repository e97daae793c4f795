#include "server/events/event_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "model/events/ubi.h"
#include "tests/support/event_folder.h"
#include "tests/support/event_lines.h"
#include "tests/support/full_disk.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr absl::Duration kDay = absl::Hours(24);

class EventFilesTest : public ::testing::Test {
 protected:
  void Open() {
    options_.folder = Folder();
    files_.reset();
    files_ = EventFiles::Open(options_).value();
  }
  std::string Folder() const { return dir_.File("events"); }
  std::vector<std::string> Files() const {
    return ListEventFiles(Folder()).value();
  }
  std::vector<std::string> Lines(std::size_t file) const {
    return LinesOf(BytesOf(Files().at(file)));
  }

  TempDir dir_;
  EventFiles::Options options_;
  std::unique_ptr<EventFiles> files_;
  absl::Time now_ = absl::FromUnixMillis(1'764'130'882'123);
};

TEST_F(EventFilesTest, NamesHaveTimeAndNumberAndSort) {
  Open();
  ASSERT_THAT(files_->Append(MakeLines("a\n"), now_), IsOk());
  ASSERT_THAT(files_->Append(MakeLines("b\n"), now_), IsOk());
  Open();
  ASSERT_THAT(files_->Append(MakeLines("c\n"), now_), IsOk());
  ASSERT_THAT(Files(), SizeIs(2));
  EXPECT_EQ(std::filesystem::path(Files()[0]).filename(),
            "events-20251126T042122.123Z-000001.jsonl.zst");
  EXPECT_THAT(Lines(0), ElementsAre("a", "b"));
  EXPECT_THAT(Lines(1), ElementsAre("c"));
}

TEST_F(EventFilesTest, AnotherServerIsRefused) {
  Open();
  EXPECT_THAT(EventFiles::Open(options_),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("another program")));
}

TEST_F(EventFilesTest, AFileEndsWithItsHourOrItsSize) {
  options_.max_file_bytes = 40;
  Open();
  ASSERT_THAT(files_->Append(MakeLines("a\n"), now_), IsOk());
  ASSERT_THAT(files_->Append(MakeLines("some words that are longer\n"), now_),
              IsOk());
  EXPECT_THAT(Files(), SizeIs(1));
  ASSERT_THAT(files_->Append(MakeLines("c\n"), now_), IsOk());
  EXPECT_THAT(Files(), SizeIs(2));
  ASSERT_THAT(files_->Append(MakeLines("d\n"), now_ + absl::Hours(1)), IsOk());
  EXPECT_THAT(Files(), SizeIs(3));
}

TEST_F(EventFilesTest, AClockThatGoesBackKeepsTheOrderOfFiles) {
  Open();
  ASSERT_THAT(files_->Append(MakeLines("a\n"), now_), IsOk());
  for (int hours = 1; hours < 4; ++hours) {
    ASSERT_THAT(files_->Append(MakeLines("b\n"), now_ - absl::Hours(hours)),
                IsOk());
  }
  EXPECT_THAT(Files(), SizeIs(1));
  Open();
  ASSERT_THAT(files_->Append(MakeLines("c\n"), now_ - absl::Hours(5)), IsOk());
  EXPECT_THAT(Lines(1), ElementsAre("c"));
}

TEST_F(EventFilesTest, OldFilesAreRemovedByAgeAndBytes) {
  options_.max_age = absl::Hours(24);
  Open();
  for (int day = 0; day < 4; ++day) {
    ASSERT_THAT(files_->Append(MakeLines("a\n"), now_ + day * absl::Hours(24)),
                IsOk());
  }
  ASSERT_THAT(files_->RemoveOld(now_ + absl::Hours(72)), IsOk());
  EXPECT_THAT(Files(), SizeIs(2));
  options_.max_bytes = 1;
  Open();
  ASSERT_THAT(files_->Append(MakeLines("last\n"), now_), IsOk());
  ASSERT_THAT(files_->RemoveOld(now_ + absl::Hours(999)), IsOk());
  EXPECT_THAT(Files(), SizeIs(1));
  EXPECT_THAT(Lines(0), ElementsAre("last"));
  EXPECT_EQ(static_cast<std::uintmax_t>(files_->num_bytes()),
            std::filesystem::file_size(Files()[0]));
}

TEST_F(EventFilesTest, OldRecordsOfAnImportAreRemovedAndRecentOnesStay) {
  const std::int64_t now_ms = absl::ToUnixMillis(now_);
  const std::int64_t old_ms = now_ms - absl::ToInt64Milliseconds(100 * kDay);
  const auto record = [](std::int64_t time_ms) {
    return absl::StrFormat(
        R"({"query_id": "q%d", "user_query": "x", "timestamp": %d})"
        "\n",
        time_ms, time_ms);
  };
  ASSERT_THAT(ImportUbi({.paths = {dir_.Write("queries.ndjson",
                                              record(now_ms) + record(old_ms))},
                         .folder = Folder()}),
              IsOk());
  options_.max_age = 90 * kDay;
  Open();
  ASSERT_THAT(files_->RemoveOld(now_), IsOk());
  const auto left = RecordsOf<Impression>(Folder());
  ASSERT_THAT(left, SizeIs(1));
  EXPECT_EQ(left[0].time_ms, now_ms);
}

TEST_F(EventFilesTest, AFullDiskLeavesWholeFramesAndIsTriedAgain) {
  Open();
  ASSERT_THAT(files_->Append(MakeLines("a\n"), now_), IsOk());
  {
    const FullDisk disk(30);
    EXPECT_FALSE(files_->Append(MakeLines("long enough text\n"), now_).ok());
    std::size_t rest = 0;
    EXPECT_THAT(LinesOf(BytesOf(Files()[0]), &rest), SizeIs(1));
    EXPECT_EQ(rest, 0u);
  }
  {
    const FullDisk disk(0);
    for (int i = 0; i < 3; ++i)
      EXPECT_FALSE(files_->Append(MakeLines("b\n"), now_).ok());
    EXPECT_THAT(Files(), SizeIs(1));  // no empty ones
  }
  ASSERT_THAT(files_->Append(MakeLines("c\n"), now_), IsOk());
  EXPECT_THAT(Lines(1), ElementsAre("c"));
}

// As after kill -9, or a crash of the machine, at any moment.
TEST_F(EventFilesTest, AFileCutAtAnyByteHasItsWholeFrames) {
  Open();
  std::vector<std::size_t> ends;
  for (int i = 0; i < 3; ++i) {
    ASSERT_THAT(
        files_->Append(MakeLines(absl::StrCat("record ", i, "\n")), now_),
        IsOk());
    ends.push_back(static_cast<std::size_t>(files_->num_bytes()));
  }
  const std::string bytes = BytesOf(Files()[0]);
  ASSERT_EQ(bytes.size(), ends.back());
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    std::size_t num_whole = 0;
    while (num_whole < ends.size() && ends[num_whole] <= size) ++num_whole;
    EXPECT_THAT(LinesOf(std::string_view(bytes).substr(0, size)),
                SizeIs(num_whole));
  }
}

TEST_F(EventFilesTest, OtherFilesAreLeftAlone) {
  Open();
  std::filesystem::create_directory(Folder() + "/events-x.jsonl.zst");
  const std::string mine =
      dir_.Write("events/events-20200101T000000.000Z-1.jsonl", "mine");
  options_.max_bytes = 0;
  Open();
  ASSERT_THAT(files_->RemoveOld(now_), IsOk());
  EXPECT_TRUE(std::filesystem::exists(mine));
  EXPECT_TRUE(std::filesystem::exists(Folder() + "/events-x.jsonl.zst"));
}

}  // namespace
}  // namespace semrank
