// --publish=if_better: nights of new clicks, good and wrong ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/base/random.h"
#include "model/format/model_bundle.h"
#include "model/format/version_directory.h"
#include "tests/support/run_program.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A word of random letters for each number.
std::string Word(std::uint64_t number) {
  Random random(number, RandomPurpose::kPairOrder);
  std::string word;
  for (int i = 0; i < 7; ++i) {
    word += static_cast<char>('a' + random.Below(26));
  }
  return word;
}

// A query names a colour and a thing, its title both in other words: what is
// learned of them ranks queries that no night learns from.
class NightTest : public ::testing::Test {
 protected:
  static constexpr int kWords = 30;

  NightTest() {
    Learn(dir_.Write("base.tsv", Clicks(0, 600)), {"--judge_fraction=0.2"});
  }

  // Lines of the combinations [first, last).
  static std::string Clicks(int first, int last, int shift = 0) {
    std::string lines;
    for (int k = first; k < last; ++k) {
      const int of_title = first + (k - first + shift) % (last - first);
      lines += absl::StrFormat(
          "%s %s\t%s %s\n", Word(k % kWords), Word(100 + k / kWords),
          Word(200 + of_title % kWords), Word(300 + of_title / kWords));
    }
    return lines;
  }

  ProgramResult Learn(const std::string& file,
                      const std::vector<std::string>& flags) {
    std::vector<std::string> all = {SEMRANK_BINARY_DIR "/semrank-train",
                                    "--train=" + file,
                                    "--model_dir=" + shop_,
                                    "--lexical=none",
                                    "--embedding_dim=16",
                                    "--learning_rate=0.01",
                                    "--batch_size=64",
                                    "--checkpoint_every=0"};
    all.insert(all.end(), flags.begin(), flags.end());
    return RunProgram(all);
  }

  ProgramResult Night(const std::string& clicks,
                      std::vector<std::string> flags = {}) {
    flags.insert(flags.end(), {"--init_from=" + shop_, "--publish=if_better",
                               "--judge_fraction=0.2"});
    return Learn(dir_.Write("night.tsv", clicks), flags);
  }

  std::vector<std::int64_t> Versions() {
    return ListVersions(shop_).value_or(std::vector<std::int64_t>());
  }

  TempDir dir_;
  std::string shop_ = dir_.File("models/shop");
};

TEST_F(NightTest, AGoodNightIsPublished) {
  const ProgramResult result = Night(Clicks(600, 900));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, StartsWith("published " + shop_ + "/2: "));
  EXPECT_THAT(result.err, AllOf(HasSubstr("queries of earlier clicks NDCG@10"),
                                HasSubstr("queries of new clicks NDCG@10")));
}

TEST_F(NightTest, ANightOfShuffledClicksIsRejected) {
  ProgramResult result =
      Night(Clicks(600, 900, /*shift=*/131), {"--output=json"});
  EXPECT_EQ(result.exit_code, 4) << result.err;
  EXPECT_THAT(Versions(), ElementsAre(1));
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["outcome"], "rejected");
  EXPECT_THAT(json["reason"].get<std::string>(),
              HasSubstr("of earlier clicks"));
  EXPECT_EQ(json["version_dir"], shop_ + "/rejected/1");
  EXPECT_LT(json["judgement"][0]["delta"].get<double>(), 0);
  EXPECT_THAT(LoadModel(shop_ + "/rejected"), IsOk());
  EXPECT_TRUE(std::filesystem::exists(shop_ + "/rejected/1/report.html"));

  // The next one gets the next number, and a good night is published.
  result = Night(Clicks(600, 900, /*shift=*/131));
  EXPECT_EQ(result.exit_code, 4) << result.err;
  EXPECT_THAT(result.out, StartsWith("rejected " + shop_ + "/rejected/2: "));
  EXPECT_EQ(Night(Clicks(600, 900)).exit_code, 0);
  EXPECT_THAT(Versions(), ElementsAre(1, 2));
}

TEST_F(NightTest, ForcePublishesAnyNight) {
  const ProgramResult result = Night(Clicks(600, 900, 131), {"--force"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("; published because of --force"));
  EXPECT_THAT(Versions(), ElementsAre(1, 2));
}

TEST_F(NightTest, TooFewClicksChangeNothing) {
  const ProgramResult result = Night(Clicks(600, 620));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("too few new clicks: "),
                                HasSubstr("is unchanged")));
  EXPECT_THAT(Versions(), ElementsAre(1));
}

TEST_F(NightTest, NeedsAServedModel) {
  const ProgramResult result =
      Learn(dir_.Write("night.tsv", Clicks(0, 90)), {"--publish=if_better"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--init_from has to name"));
}

TEST_F(NightTest, AfterAModelWithoutClicksTrainingBeginsAnew) {
  shop_ = dir_.File("models/catalogue");
  const std::string docs = "--docs=" + dir_.Write("docs.tsv",
                                                  "1\tair fares\n2\titalian "
                                                  "food\n");
  ASSERT_EQ(RunProgram({SEMRANK_BINARY_DIR "/semrank-train", docs,
                        "--model_dir=" + shop_, "--init_from=none"})
                .exit_code,
            0);
  const ProgramResult result = Night(Clicks(0, 600));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("has learned from no clicks"),
                                HasSubstr("queries of new clicks NDCG@10")));
  EXPECT_THAT(Versions(), ElementsAre(1, 2));
}

TEST_F(NightTest, AStartThatLearnedFromAllCannotBeJudgedOnEarlierClicks) {
  shop_ = dir_.File("models/other");
  ASSERT_EQ(Learn(dir_.Write("base.tsv", Clicks(0, 600)), {}).exit_code, 0);
  const ProgramResult result = Night(Clicks(600, 900));
  EXPECT_THAT(result.err, HasSubstr("trained without --judge_fraction"));
}

}  // namespace
}  // namespace semrank
