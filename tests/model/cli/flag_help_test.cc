#include "model/cli/flag_help.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "model/cli/help_text.h"

ABSL_FLAG(std::string, model_dir, "", "Folder of the model's versions.");
ABSL_FLAG(int, batch_size, 1024, "Pairs in one mini-batch.");
ABSL_FLAG(bool, shared_towers, false,
          "One tower for both sides. This text is long enough that it has to "
          "be broken into more lines than one, at a blank, before column 100.");
ABSL_FLAG(absl::Duration, drain_delay, absl::Seconds(5), "Two.\nLines.");

namespace semrank {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(WrapTextTest, BreaksAtBlanksAndKeepsLineEnds) {
  EXPECT_EQ(WrapText("one  two\nthree", 2), "  one two\n  three\n");
  EXPECT_EQ(WrapText("", 2), "  \n");
  const std::string a(48, 'a'), b(49, 'b');
  EXPECT_EQ(WrapText(a + " " + b, 2), "  " + a + " " + b + "\n");
  EXPECT_EQ(WrapText(a + " " + b, 3), "   " + a + "\n   " + b + "\n");
}

TEST(WrapTextTest, LongWordsStayWhole) {
  const std::string word(200, 'w');
  EXPECT_EQ(WrapText("a " + word + " b", 0), "a\n" + word + "\nb\n");
}

class HelpTextTest : public ::testing::Test {
 protected:
  const ProgramInfo info_ = {
      .name = "semrank-train",
      .summary = "learns two towers",
      .usage = "Usage: semrank-train --train=FILE\n",
      .flag_source = "flag_help_test.cc",
  };
  const std::string help_ = HelpText(info_, FlagTable(info_.flag_source));
};

TEST_F(HelpTextTest, BeginsWithSummaryAndUsage) {
  EXPECT_THAT(help_, StartsWith("semrank-train: learns two towers\n\n"
                                "Usage: semrank-train --train=FILE\n\n"));
}

TEST_F(HelpTextTest, ListsFormDefaultAndHelpOfFlags) {
  EXPECT_THAT(help_, HasSubstr("\n  --batch_size=VALUE (default: 1024)\n"
                               "      Pairs in one mini-batch.\n"));
  EXPECT_THAT(help_, HasSubstr("\n  --[no]shared_towers (default: false)\n"));
  EXPECT_THAT(help_, HasSubstr("\n  --model_dir=VALUE (default: none)\n"));
  EXPECT_THAT(help_, HasSubstr("\n  --drain_delay=VALUE (default: 5s)\n"
                               "      Two.\n      Lines.\n"));
}

TEST_F(HelpTextTest, ListsFlagsAlphabeticallyWithThoseOfEveryProgram) {
  std::size_t last = 0;
  for (const std::string form :
       {"batch_size", "drain_delay", "flagfile", "help", "model_dir",
        "[no]shared_towers", "version"}) {
    const std::size_t at = help_.find("\n  --" + form);
    ASSERT_NE(at, std::string::npos) << form;
    EXPECT_GT(at, last) << form;
    last = at;
  }
}

TEST_F(HelpTextTest, NoLineIsLongerThanAHundredColumns) {
  const std::vector<std::string> lines = absl::StrSplit(help_, '\n');
  for (const std::string& line : lines) {
    EXPECT_LE(line.size(), 100u) << line;
  }
}

}  // namespace
}  // namespace semrank
