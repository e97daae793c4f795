#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "client/bulk/resumable_file.h"
#include "model/base/file_io.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

class BackgroundWriterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(file_,
                         ResumableFile::Open(path_, /*with_ids=*/true, "",
                                             {{"model", "a"}}, std::nullopt));
  }
  std::string Read(const std::string& ending) {
    return ReadFile(path_ + ending, 1'000'000).value_or("(none)");
  }
  static absl::Status Append(BackgroundWriter& writer, const std::string& row) {
    BackgroundWriter::Piece piece;
    piece.rows.Add(1).front() = row;
    piece.ids = row + "\n";
    return writer.Append(piece);
  }

  TempDir dir_;
  const std::string path_ = dir_.File("f");
  std::unique_ptr<ResumableFile> file_;
};

TEST_F(BackgroundWriterTest, WritesInTheOrderOfTheCalls) {
  std::string rows, ids;
  BackgroundWriter writer(*file_);
  BackgroundWriter::Piece piece;
  // More than may wait, in pieces of a different number of parts.
  for (std::size_t i = 0; i < 5 * BackgroundWriter::kMaxWaiting; ++i) {
    for (std::string& part : piece.rows.Add(i % 3)) {
      part = std::to_string(i) + ";";
      rows += part;
    }
    piece.ids = std::to_string(i) + "\n";
    ids += piece.ids;
    ASSERT_THAT(writer.Append(piece), IsOk());
    ASSERT_TRUE(piece.rows.parts().empty());
    ASSERT_EQ(piece.ids, "");
  }
  ASSERT_THAT(writer.Finish(), IsOk());
  EXPECT_EQ(Read(".partial"), rows);
  EXPECT_EQ(Read(".ids.partial"), ids);
}

TEST_F(BackgroundWriterTest, ACheckpointCountsWhatWasAppendedBeforeIt) {
  BackgroundWriter writer(*file_);
  ASSERT_THAT(Append(writer, "ab"), IsOk());
  ASSERT_THAT(writer.Checkpoint({{"rows", 1}}), IsOk());
  ASSERT_THAT(Append(writer, "cdef"), IsOk());
  ASSERT_THAT(writer.Finish(), IsOk());
  ASSERT_OK_AND_ASSIGN(const auto state, ReadResumableState(path_));
  ASSERT_TRUE(state.has_value());
  EXPECT_EQ(state->num_bytes, 2);
  EXPECT_EQ(state->num_id_bytes, 3);
}

TEST_F(BackgroundWriterTest, WritesWhatIsAppendedBeforeItIsDestroyed) {
  {
    BackgroundWriter writer(*file_);
    ASSERT_THAT(Append(writer, "ab"), IsOk());
    ASSERT_THAT(writer.Checkpoint({{"rows", 1}}), IsOk());
  }
  EXPECT_EQ(Read(".partial"), "ab");
  ASSERT_OK_AND_ASSIGN(const auto state, ReadResumableState(path_));
  EXPECT_TRUE(state.has_value());
}

TEST_F(BackgroundWriterTest, WritesNothingAfterAnError) {
  // A folder in place of the state file.
  ASSERT_TRUE(std::filesystem::create_directory(path_ + ".state"));
  BackgroundWriter writer(*file_);
  ASSERT_THAT(Append(writer, "ab"), IsOk());
  ASSERT_THAT(writer.Checkpoint({{"rows", 1}}), IsOk());
  const absl::Status error = writer.Finish();
  EXPECT_FALSE(error.ok());
  EXPECT_EQ(Append(writer, "cd"), error);
  EXPECT_EQ(writer.Finish(), error);
  EXPECT_EQ(Read(".partial"), "ab");
}

}  // namespace
}  // namespace semrank
