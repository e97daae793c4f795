// semrank-train is killed (SIGKILL) again and again, resumes with --resume, and
// ends with the very weights of a run that was left alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/inotify.h>

#include <filesystem>
#include <string>
#include <vector>

#include "model/base/file_io.h"
#include "tests/integration/training_program.h"
#include "tests/support/run_program.h"

namespace semrank {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_P(ResumeTest, KilledAtAnyMomentItEndsWithTheSameWeights) {
  const ProgramResult undisturbed = RunProgram(Command("whole"));
  ASSERT_EQ(undisturbed.exit_code, 0) << undisturbed.err;
  EXPECT_EQ(undisturbed.err.find("streamed from disk") != std::string::npos,
            GetParam().streamed);
  const std::vector<std::string> again = Command("killed", {"--resume"});
  // An epoch has 14 or 15 batches: kill it in the first epoch, at its end, in
  // the second, ...
  for (const int count : {5, 9, 1, 13, 3}) {
    RunAndKill(again, IN_MOVED_TO, kCheckpoint, count);
  }
  // A kill during the write of a checkpoint leaves the one before.
  RunAndKill(Command("killed", {"--resume", "--threads=2"}), IN_CREATE,
             kUnfinishedCheckpoint, 2);
  // Kill it while it reads pairs: the file is opened once to hold or count
  // them, in a stream also for each block.
  for (const int count :
       GetParam().streamed ? std::vector{1, 3, 12} : std::vector{1}) {
    RunAndKill(again, IN_OPEN | IN_CLOSE_NOWRITE, "clicks.tsv", count);
  }
  const ProgramResult last = RunProgram(again);
  ASSERT_EQ(last.exit_code, 0) << last.err;
  EXPECT_THAT(last.err, HasSubstr("resuming from"));
  EXPECT_EQ(Weights("killed"), Weights("whole"));
  EXPECT_FALSE(std::filesystem::exists(dir_.File(kCheckpoint)));
  for (const auto& entry :
       std::filesystem::directory_iterator(dir_.File("killed"))) {
    EXPECT_THAT(entry.path().filename().string(),
                AllOf(Not(HasSubstr(".tmp")), Not(HasSubstr(".lock"))));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, ResumeTest,
    ::testing::Values(
        TrainCase{"Adam", {}},
        TrainCase{"AdagradUniformSeparate",
                  {"--optimizer=adagrad", "--learning_rate=0.05",
                   "--negative_sampling=uniform", "--noshared_towers",
                   "--clicks=weight"}},
        TrainCase{"ClsmWithDropout", {"--tower=clsm", "--dropout=0.2"}},
        TrainCase{"SsiOfCorrelatedWords",
                  {"--tower=ssi", "--ssi_frequent_words=20",
                   "--ssi_correlated_top_k=2"}},
        TrainCase{"SsiOfMixedParts",
                  {"--tower=ssi", "--ssi_frequent_words=20",
                   "--ssi_correlated_top_k=2", "--ssi_mix_parts",
                   "--ssi_correlated_pairing=same_rank"}},
        TrainCase{"SgdClippedDecaying",
                  {"--optimizer=sgd", "--learning_rate=0.5",
                   "--gradient_clip_norm=0.1", "--warmup_batches=20",
                   "--learning_rate_decay=linear"}},
        TrainCase{
            "Streamed",
            {"--features=letters", "--hash_buckets=200", "--clicks=weight"},
            /*streamed=*/true},
        TrainCase{"StreamedSsi",
                  {"--tower=ssi", "--max_words=300", "--negatives=4",
                   "--ssi_frequent_words=20", "--ssi_correlated_top_k=1",
                   "--ssi_unknown_word_buckets=100", "--gradient_clip_norm=0.1",
                   // 300 words find less than the letters of the other 2,100.
                   "--force"},
                  /*streamed=*/true}),
    [](const auto& tested) { return tested.param.name; });

using ResumeErrorTest = ResumeTest;

TEST_P(ResumeErrorTest, AnotherRunsCheckpointIsRefusedAndKept) {
  RunAndKill(Command("killed"), IN_MOVED_TO, kCheckpoint, 3);
  const std::string path = dir_.File(kCheckpoint);
  const auto before = ReadFile(path, 1 << 24);

  ProgramResult result =
      RunProgram(Command("killed", {"--resume", "--learning_rate=0.125"}));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("learning_rate was 0.001, now it is 0.12"));

  result = RunProgram(Command("killed", {"--resume", "--nobiases"}));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("--biases was true, now it is false"));

  dir_.Write("clicks.tsv", "a\tb\nc\td\n");
  result = RunProgram(Command("killed", {"--resume", "--valid_fraction=0"}));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("is of another run"));
  EXPECT_EQ(*ReadFile(path, 1 << 24), *before);
}

TEST_P(ResumeErrorTest, ADamagedCheckpointIsRefusedAndKept) {
  RunAndKill(Command("killed"), IN_MOVED_TO, kCheckpoint, 3);
  const std::string path = dir_.File(kCheckpoint);
  const std::string good = *ReadFile(path, 1 << 24);
  for (const std::size_t at :
       {good.size() - 100, good.size() / 2, std::size_t{600}, std::size_t{3}}) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    dir_.Write(kCheckpoint, bad);
    const ProgramResult result = RunProgram(Command("killed", {"--resume"}));
    EXPECT_EQ(result.exit_code, 1) << at;
    EXPECT_THAT(result.err, HasSubstr(kCheckpoint));
    EXPECT_EQ(*ReadFile(path, 1 << 24), bad);
  }
  dir_.Write(kCheckpoint, good.substr(0, 1000));
  EXPECT_EQ(RunProgram(Command("killed", {"--resume"})).exit_code, 1);
}

TEST_P(ResumeErrorTest, WithoutACheckpointItBeginsAnew) {
  const ProgramResult result = RunProgram(Command("fresh", {"--resume"}));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, Not(HasSubstr("resuming from")));
}

TEST_P(ResumeErrorTest, StandardInputCannotBeResumed) {
  std::vector<std::string> command = Command("input", {"--resume"});
  command[1] = "--train=-";
  const ProgramResult result = RunProgram(command);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--resume"));
}

INSTANTIATE_TEST_SUITE_P(Plain, ResumeErrorTest,
                         ::testing::Values(TrainCase{"Adam", {}}),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace semrank
