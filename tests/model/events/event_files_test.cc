#include "model/events/event_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/events/event_frames.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// 2026-11-26, 05:21:22 UTC.
constexpr std::int64_t kBegun = 1'795'670'482'000;

std::string LineOf(std::string_view id, std::int64_t time_ms = kBegun) {
  std::string line;
  AppendLine(Impression{.id = std::string(id), .time_ms = time_ms}, line);
  return line;
}

std::string Frame(std::string_view lines) {
  std::string frame;
  AppendEventFrame(lines, frame);
  return frame;
}

class EventFilesTest : public ::testing::Test {
 protected:
  std::string WriteFile(std::int64_t number, std::string_view content) {
    return dir_.Write(EventFileName(kBegun + number, number), content);
  }

  // The ids of all records, in order.
  absl::StatusOr<std::vector<std::string>> Read(
      const std::vector<std::string>& paths, const BadLineLimit& limit = {}) {
    std::vector<std::string> ids;
    counts_ = {};
    const absl::Status status = ForEachEvent(
        paths, limit,
        [&ids](EventRecord& record) {
          ids.push_back(std::get<Impression>(record).id);
          return absl::OkStatus();
        },
        counts_);
    if (!status.ok()) return status;
    return ids;
  }

  TempDir dir_;
  EventFileCounts counts_;
};

TEST_F(EventFilesTest, NamesSortByTime) {
  EXPECT_EQ(EventFileName(kBegun + 123, 1),
            "events-20261126T052122.123Z-000001.jsonl.zst");
}

TEST_F(EventFilesTest, NamesHaveTimeAndNumber) {
  const auto id = ParseEventFileName(EventFileName(kBegun + 123, 7));
  ASSERT_TRUE(id.has_value());
  EXPECT_EQ(id->time_ms, kBegun + 123);
  EXPECT_EQ(id->number, 7);
  for (const char* other :
       {"key", "events-1.jsonl.zst", "events-20261126T052122.123Z-000001.gz",
        "events-20261126T052122.123Z-x.jsonl.zst",
        "events-20261326T052122.123Z-000001.jsonl.zst"}) {
    EXPECT_FALSE(ParseEventFileName(other).has_value()) << other;
  }
}

TEST_F(EventFilesTest, ReadsFilesInOrderOfTheirNames) {
  WriteFile(2, Frame(LineOf("c")));
  WriteFile(1, Frame(LineOf("a")) + Frame(LineOf("b")));
  dir_.Write("key", "no file of events");
  ASSERT_OK_AND_ASSIGN(const auto ids, Read({dir_.path()}));
  EXPECT_THAT(ids, ElementsAre("a", "b", "c"));
  EXPECT_EQ(counts_, (EventFileCounts{.files = 2, .records = 3}));
}

TEST_F(EventFilesTest, MergesFoldersByTime) {
  const TempDir other;
  WriteFile(1, Frame(LineOf("a", kBegun) + LineOf("c", kBegun + 2000) +
                     LineOf("d", kBegun + 9000)));
  other.Write(EventFileName(kBegun + 5, 1), Frame(LineOf("b", kBegun + 1000)));
  ASSERT_OK_AND_ASSIGN(const auto ids, Read({dir_.path(), other.path()}));
  EXPECT_THAT(ids, ElementsAre("a", "b", "c", "d"));
}

// As kill -9, or a server that is writing, leaves it.
TEST_F(EventFilesTest, FileCutAtAnyByteHasTheRecordsOfWholeFrames) {
  const std::vector<std::string> frames = {
      Frame(LineOf("a") + LineOf("b")), Frame(LineOf("c")), Frame(LineOf("d"))};
  const std::string whole = frames[0] + frames[1] + frames[2];
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    WriteFile(1, whole.substr(0, size));
    std::vector<std::string> expected;
    std::size_t end = 0;
    bool at_boundary = size == 0;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      end += frames[i].size();
      if (end > size) break;
      at_boundary = end == size;
      if (i == 0) expected = {"a", "b"};
      if (i > 0) expected.emplace_back(1, static_cast<char>('b' + i));
    }
    ASSERT_OK_AND_ASSIGN(const auto ids, Read({dir_.path()}));
    EXPECT_EQ(ids, expected) << size;
    EXPECT_EQ(counts_.cut_files, at_boundary ? 0 : 1) << size;
    EXPECT_EQ(counts_.bad_lines, 0) << size;
  }
}

TEST_F(EventFilesTest, DamagedFrameEndsItsFileAlone) {
  std::string damaged = Frame(LineOf("b"));
  damaged[damaged.size() - 1] ^= 1;  // its checksum
  WriteFile(1, Frame(LineOf("a")) + damaged + Frame(LineOf("c")));
  WriteFile(2, Frame(LineOf("d")));
  ASSERT_OK_AND_ASSIGN(const auto ids, Read({dir_.path()}));
  EXPECT_THAT(ids, ElementsAre("a", "d"));
  EXPECT_EQ(counts_.damaged_files, 1);
  EXPECT_EQ(counts_.bad_lines, 1);
  EXPECT_THAT(Read({dir_.path()}, BadLineLimit(0)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("events-20261126T052122.001Z-000001")));
}

TEST_F(EventFilesTest, BadLinesAreCountedAndLimited) {
  const std::string path =
      WriteFile(1, Frame(LineOf("a") + "{\"type\":\"impression\"}\nno JSON\n" +
                         LineOf("b") + "{\"type\":\"\xff\"}\n" + LineOf("c")));
  ASSERT_OK_AND_ASSIGN(const auto ids, Read({dir_.path()}));
  EXPECT_THAT(ids, ElementsAre("a", "b", "c"));
  EXPECT_EQ(counts_.bad_lines, 3);
  EXPECT_THAT(
      Read({dir_.path()}, BadLineLimit(1)),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(path + ":3: ")));
}

TEST_F(EventFilesTest, ReadsPlainLinesAndSingleFiles) {
  const std::string plain =
      dir_.Write("some.jsonl", LineOf("a") + LineOf("b").substr(0, 34));
  const std::string second = dir_.Write("more.jsonl", LineOf("x"));
  std::string line = LineOf("b");
  line.pop_back();  // the last line break is missing
  dir_.Write("some.jsonl", LineOf("a") + line);
  ASSERT_OK_AND_ASSIGN(const auto ids, Read({plain, second, plain}));
  EXPECT_THAT(ids, ElementsAre("x", "a", "b"));
}

// More than one chunk, and lines across the borders of chunks.
TEST_F(EventFilesTest, ReadsLargeFrames) {
  std::string lines;
  for (int i = 0; i < 20'000; ++i) lines += LineOf(absl::StrFormat("%d", i));
  WriteFile(1, Frame(lines));
  ASSERT_OK_AND_ASSIGN(const auto ids, Read({dir_.path()}));
  ASSERT_EQ(ids.size(), 20'000U);
  EXPECT_EQ(ids.back(), "19999");
}

// A few kilobytes of a hostile file may say so.
TEST_F(EventFilesTest, LineWithoutEndIsDamageBeforeItFillsTheMemory) {
  WriteFile(
      1, Frame(LineOf("a") + std::string(80 << 20, 'x') + "\n" + LineOf("b")));
  ASSERT_OK_AND_ASSIGN(const auto ids, Read({dir_.path()}));
  EXPECT_THAT(ids, ElementsAre("a"));
  EXPECT_EQ(counts_.damaged_files, 1);
}

TEST_F(EventFilesTest, FolderWithoutEventsIsAnError) {
  EXPECT_THAT(Read({dir_.path()}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("--events")));
  EXPECT_THAT(
      Read({dir_.File("missing")}),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr(dir_.File("missing"))));
}

}  // namespace
}  // namespace semrank
