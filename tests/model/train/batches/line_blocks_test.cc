#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>

#include "model/train/batches/shuffled_lines.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAreArray;

class LineBlocksTest : public ::testing::Test {
 protected:
  static std::vector<std::string> Read(LineBlocks& blocks, int epoch) {
    blocks.Shuffle(Random(1, RandomPurpose::kBlockOrder, epoch));
    std::vector<std::string> lines;
    std::string_view line;
    for (;;) {
      const auto more = blocks.Next(line);
      EXPECT_THAT(more, IsOk());
      if (!more.ok() || !*more) return lines;
      lines.emplace_back(line);
    }
  }

  TempDir dir_;
};

// Wherever the cuts fall: on, before and behind line ends.
TEST_F(LineBlocksTest, EveryBlockSizeGivesEachLineOnce) {
  std::vector<std::string> lines;
  std::string content;
  for (int i = 0; i < 40; ++i) {
    lines.push_back(std::string(i * 7 % 23, 'a' + i % 26));
    content += lines.back() + (i % 3 == 0 ? "\r\n" : "\n");
  }
  lines.push_back("the last, without end");
  content += lines.back();
  const std::string path = dir_.Write("lines.txt", content);
  for (std::size_t size = 1; size < 60; ++size) {
    ASSERT_OK_AND_ASSIGN(LineBlocks blocks, LineBlocks::Create({path}, size));
    EXPECT_THAT(Read(blocks, 1), UnorderedElementsAreArray(lines)) << size;
  }
}

TEST_F(LineBlocksTest, AnEpochsOrderDoesNotDependOnThoseBefore) {
  std::string content;
  for (int i = 0; i < 100; ++i) content += std::to_string(i) + "\n";
  const std::vector<std::string> paths = {dir_.Write("a.txt", content),
                                          dir_.Write("b.txt", content)};
  ASSERT_OK_AND_ASSIGN(LineBlocks blocks, LineBlocks::Create(paths, 16));
  const auto first = Read(blocks, 1), second = Read(blocks, 2);
  EXPECT_NE(first, second);
  EXPECT_EQ(Read(blocks, 2), second);
}

TEST_F(LineBlocksTest, CompressedFilesAreOneBlock) {
  const std::string path = dir_.File("lines.gz");
  const gzFile file = gzopen(path.c_str(), "wb");
  gzputs(file, "one\ntwo\n");
  gzclose(file);
  ASSERT_OK_AND_ASSIGN(LineBlocks blocks, LineBlocks::Create({path}, 2));
  EXPECT_EQ(blocks.num_blocks(), 1u);
  EXPECT_EQ(Read(blocks, 1), (std::vector<std::string>{"one", "two"}));
}

TEST_F(LineBlocksTest, ALineBeyondTheLimitIsCut) {
  const std::string path =
      dir_.Write("long.txt",
                 std::string(2 * LineReader::kMaxLineBytes, 'x') + "\nshort\n");
  ASSERT_OK_AND_ASSIGN(LineBlocks blocks, LineBlocks::Create({path}, 1 << 16));
  auto lines = Read(blocks, 1);
  ASSERT_EQ(lines.size(), 2u);
  std::sort(lines.begin(), lines.end());
  EXPECT_EQ(lines[0], "short");
  EXPECT_EQ(lines[1].size(), LineReader::kMaxLineBytes);
}

TEST_F(LineBlocksTest, StandardInputIsRefused) {
  EXPECT_THAT(LineBlocks::Create({"-"}, 16),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("--memory_limit")));
}

}  // namespace
}  // namespace semrank
