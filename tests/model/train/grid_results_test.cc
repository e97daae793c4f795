#include "model/train/grid_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/base/file_io.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

GridRun FinishedRun(std::string setting, double score) {
  return {std::move(setting), {{{{score, 3}, {1.0 / 3, 4}}}}};
}

TEST(GridResultsTest, KeepsWhatWasFinished) {
  const TempDir dir;
  {
    ASSERT_OK_AND_ASSIGN(GridResults results, GridResults::Open(dir.path()));
    EXPECT_EQ(results.Find("a"), nullptr);
    ASSERT_THAT(results.Add("a", FinishedRun("gamma=5", 0.1)), IsOk());
    ASSERT_THAT(results.Add("b", FinishedRun("gamma=10", 0.2)), IsOk());
  }
  ASSERT_OK_AND_ASSIGN(GridResults results, GridResults::Open(dir.path()));
  ASSERT_NE(results.Find("b"), nullptr);
  EXPECT_EQ(results.Find("b")->setting, "gamma=10");
  EXPECT_EQ(results.Find("b")->epochs, FinishedRun("gamma=10", 0.2).epochs);
  ASSERT_NE(results.Find("a"), nullptr);
  EXPECT_EQ(results.Find("c"), nullptr);
}

struct DamagedCase {
  std::string name;
  std::string line;
};

class DamagedLineTest : public ::testing::TestWithParam<DamagedCase> {};

TEST_P(DamagedLineTest, IsLeftOutAndTheOthersStay) {
  const TempDir dir;
  const std::string good =
      FormatGridRun("good", FinishedRun("gamma=5", 0.1)) + "\n";
  dir.Write(kGridFile, good + GetParam().line + "\n" +
                           FormatGridRun("last", FinishedRun("gamma=6", 0.2)));
  ASSERT_OK_AND_ASSIGN(GridResults results, GridResults::Open(dir.path()));
  EXPECT_NE(results.Find("good"), nullptr);
  EXPECT_NE(results.Find("last"), nullptr);
  EXPECT_EQ(results.Find("bad"), nullptr);
}

INSTANTIATE_TEST_SUITE_P(
    Lines, DamagedLineTest,
    ::testing::Values(
        DamagedCase{"Torn", R"({"run": "bad", "sett)"},
        DamagedCase{"NoObject", "[1]"}, DamagedCase{"Empty", ""},
        DamagedCase{"RunIsNoText", R"({"run": 3})"},
        DamagedCase{
            "NoEpochs",
            R"({"run":"bad","setting":"","epochs":[],"queries":[1,1]})"},
        DamagedCase{
            "OneHalf",
            R"({"run":"bad","setting":"","epochs":[[1]],"queries":[1,1]})"},
        DamagedCase{
            "TextScore",
            R"({"run":"bad","setting":"","epochs":[["1",2]],"queries":[1,1]})"},
        DamagedCase{
            "EmptyHalf",
            R"({"run":"bad","setting":"","epochs":[[1,2]],"queries":[0,1]})"}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace semrank
