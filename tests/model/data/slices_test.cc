#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "model/data/collection.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SlicesTest : public ::testing::Test {
 protected:
  SlicesTest() {
    collection_.queries = {
        {"q1", "", {}, {}}, {"q2", "", {}, {}}, {"q3", "", {}, {}}};
  }
  absl::StatusOr<std::vector<Slice>> Read(std::string_view content) {
    return ReadSlices(dir_.Write("slices.tsv", content), collection_,
                      bad_lines_);
  }

  TempDir dir_;
  Collection collection_;
  BadLines bad_lines_{10};
};

TEST_F(SlicesTest, KeepTheOrderOfTheFileAndShareQueries) {
  ASSERT_OK_AND_ASSIGN(const auto slices,
                       Read("q3\tshort\nq1\tone word\nq1\tshort\nq3\tshort\n"));
  ASSERT_EQ(slices.size(), 2u);
  EXPECT_EQ(slices[0].name, "short");
  EXPECT_THAT(slices[0].queries, ElementsAre(0, 2));
  EXPECT_EQ(slices[1].name, "one word");
  EXPECT_THAT(slices[1].queries, ElementsAre(0));
}

// A file of queries that is given by mistake has a slice a line.
TEST_F(SlicesTest, MayBeMany) {
  std::string lines;
  for (int i = 0; i < 100'000; ++i) {
    lines += "q1\tslice " + std::to_string(i) + "\n";
  }
  ASSERT_OK_AND_ASSIGN(const auto slices, Read(lines));
  ASSERT_EQ(slices.size(), 100'000u);
  EXPECT_EQ(slices[99'999].name, "slice 99999");
}

TEST_F(SlicesTest, BadLinesAreCountedAndUnknownQueriesIgnored) {
  ASSERT_OK_AND_ASSIGN(const auto slices,
                       Read("q1\tnames\nq2\nq2\t\nq2\ta\tb\nq9\tother\n\n"));
  EXPECT_EQ(slices.size(), 1u);
  EXPECT_EQ(bad_lines_.count(), 3);
}

TEST_F(SlicesTest, FileWithoutAnyKnownQueryIsAnError) {
  EXPECT_THAT(Read("q9\tnames\n"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("names no query")));
}

}  // namespace
}  // namespace semrank
