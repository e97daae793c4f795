#include "client/bulk/resumable_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "model/base/file_io.h"
#include "model/base/status_macros.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::ordered_json;

class ResumableFileTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<ResumableFile>> Open(const Json& what = {
                                                          {"model", "a"}}) {
    SEMRANK_ASSIGN_OR_RETURN(const auto state, ReadResumableState(path_));
    return ResumableFile::Open(path_, /*with_ids=*/true, "HEAD", what, state);
  }
  std::string Read(const std::string& ending) {
    return ReadFile(path_ + ending, 1000).value_or("(none)");
  }
  // "HEADrow1" and what follows the checkpoint.
  void WriteAndDie() {
    ASSERT_OK_AND_ASSIGN(const auto file, Open());
    ASSERT_THAT(file->Append("row1", "id1\n"), IsOk());
    ASSERT_THAT(file->Checkpoint({{"rows", 1}}), IsOk());
    ASSERT_THAT(file->Append("ro", "id"), IsOk());
  }

  TempDir dir_;
  const std::string path_ = dir_.File("f");
};

TEST_F(ResumableFileTest, GetsItsNameWhenComplete) {
  ASSERT_OK_AND_ASSIGN(const auto file, Open());
  ASSERT_THAT(file->Append("row1", "id1\n"), IsOk());
  EXPECT_EQ(Read(""), "(none)");
  ASSERT_THAT(file->Finish("DONE"), IsOk());
  EXPECT_EQ(Read(""), "DONErow1");
  EXPECT_EQ(Read(".ids"), "id1\n");
  EXPECT_EQ(Read(".partial"), "(none)");
  EXPECT_EQ(Read(".state"), "(none)");
}

TEST_F(ResumableFileTest, ContinuesAtTheLastCheckpoint) {
  WriteAndDie();
  EXPECT_EQ(Read(".partial"), "HEADrow1ro");
  ASSERT_OK_AND_ASSIGN(const auto state, ReadResumableState(path_));
  ASSERT_TRUE(state.has_value());
  EXPECT_EQ(state->progress, Json({{"rows", 1}}));
  ASSERT_OK_AND_ASSIGN(const auto file, Open());
  ASSERT_THAT(file->Append("row2", "id2\n"), IsOk());
  ASSERT_THAT(file->Finish("DONE"), IsOk());
  EXPECT_EQ(Read(""), "DONErow1row2");
  EXPECT_EQ(Read(".ids"), "id1\nid2\n");
}

TEST_F(ResumableFileTest, LeavesNothingBeforeTheFirstCheckpoint) {
  {
    ASSERT_OK_AND_ASSIGN(const auto file, Open());
    ASSERT_THAT(file->Append("row1", "id1\n"), IsOk());
    EXPECT_EQ(Read(".partial"), "HEADrow1");
  }
  EXPECT_EQ(Read(".partial"), "(none)");
  EXPECT_EQ(Read(".ids.partial"), "(none)");
}

TEST_F(ResumableFileTest, AnotherIdentityIsAnError) {
  WriteAndDie();
  EXPECT_THAT(Open({{"model", "b"}}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("started with model a, which is b now")));
  EXPECT_EQ(Read(".partial"), "HEADrow1ro");
}

TEST_F(ResumableFileTest, MissingBytesAreAnError) {
  WriteAndDie();
  std::filesystem::resize_file(path_ + ".partial", 5);
  EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kFailedPrecondition,
                               HasSubstr("has 5 bytes, of 8")));
}

TEST_F(ResumableFileTest, DamagedStateIsAnError) {
  for (const char* text :
       {"", "[]", "{\"format\":1}",
        "{\"format\":2,\"what\":{},\"progress\":{},\"num_bytes\":0,"
        "\"num_id_bytes\":0}",
        "{\"format\":1,\"what\":{\"a\":1},\"progress\":{},\"num_bytes\":0,"
        "\"num_id_bytes\":0}",
        "{\"format\":1,\"what\":{},\"progress\":{\"a\":-1},\"num_bytes\":0,"
        "\"num_id_bytes\":0}",
        "{\"format\":1,\"what\":{},\"progress\":{},\"num_bytes\":-1,"
        "\"num_id_bytes\":0}"}) {
    dir_.Write("f.state", text);
    EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kFailedPrecondition,
                                 HasSubstr("f.state is damaged")))
        << text;
  }
}

TEST_F(ResumableFileTest, OnlyOneProcessMayWrite) {
  ASSERT_OK_AND_ASSIGN(const auto file, Open());
  EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kFailedPrecondition,
                               HasSubstr("another process is writing it")));
}

TEST_F(ResumableFileTest, DevicesAndFoldersAreNotReplaced) {
  EXPECT_THAT(
      ResumableFile::Open("/dev/full", false, "", Json::object(), {}),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("/dev/full")));
  std::filesystem::create_symlink("/dev/full", path_ + ".partial");
  EXPECT_FALSE(Open().ok());
}

}  // namespace
}  // namespace semrank
