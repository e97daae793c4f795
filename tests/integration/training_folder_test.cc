// Tests what a run of semrank-train leaves in a model directory for the next,
// and what it does if it cannot write.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/base/file_io.h"
#include "tests/integration/training_program.h"
#include "tests/support/run_program.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using TrainingFolderTest = ResumeTest;

TEST_P(TrainingFolderTest, AnotherRunsCheckpointOutlivesARunThatWroteNone) {
  RunAndKill(Command("killed"), IN_MOVED_TO, kCheckpoint, 3);
  const auto before = ReadFile(dir_.File(kCheckpoint), 1 << 24);
  const ProgramResult result = RunProgram(
      Command("killed", {"--learning_rate=0.125", "--checkpoint_batches=0"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(*ReadFile(dir_.File(kCheckpoint), 1 << 24), *before);
}

TEST_P(TrainingFolderTest, KilledAfterPublishingItPublishesNothingTwice) {
  RunAndKill(Command("killed"), IN_MOVED_TO, kCheckpoint, 3);
  const std::string checkpoint = *ReadFile(dir_.File(kCheckpoint), 1 << 24);
  ASSERT_EQ(RunProgram(Command("killed", {"--resume"})).exit_code, 0);
  // Restore the checkpoint, as if the kill came before its removal.
  dir_.Write(kCheckpoint, checkpoint);
  const ProgramResult again = RunProgram(Command("killed", {"--resume"}));
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("killed/1:"));
  EXPECT_FALSE(std::filesystem::exists(dir_.File("killed/2")));
  EXPECT_FALSE(std::filesystem::exists(dir_.File(kCheckpoint)));

  // The same training without --resume publishes another version.
  ASSERT_EQ(RunProgram(Command("killed")).exit_code, 0);
  EXPECT_EQ(Weights("killed"), Weights("killed", 2));
}

TEST_P(TrainingFolderTest, WhatCouldNotBePublishedIsPublishedOnResume) {
  RunAndKill(Command("killed"), IN_MOVED_TO, kCheckpoint, 3);
  ProgramResult result = RunProgram(WithFilesOfAtMost(
      /*kib=*/8, Command("killed", {"--resume"})));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("could not be published"));
  EXPECT_THAT(result.err, HasSubstr("--resume continues from"));
  EXPECT_EQ(CountOf("no checkpoint:", result.err), 1) << result.err;
  EXPECT_FALSE(std::filesystem::exists(dir_.File("killed/1")));

  result = RunProgram(Command("killed", {"--resume"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  ASSERT_EQ(RunProgram(Command("whole")).exit_code, 0);
  EXPECT_EQ(Weights("killed"), Weights("whole"));
}

TEST_P(TrainingFolderTest, AFullDiskIsToldBeforeTheFirstEpoch) {
  const ProgramResult result =
      RunProgram(WithFilesOfAtMost(/*kib=*/1, Command("full")));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("/probe"));
  EXPECT_THAT(result.err, Not(HasSubstr("epoch 1")));
}

TEST_P(TrainingFolderTest, ASecondRunIsRefusedWhileTheFirstLasts) {
  const std::string fifo = dir_.File("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  std::vector<std::string> waiting = Command("shared");
  waiting[1] = "--train=" + fifo;
  const pid_t first = Start(waiting);
  // open() returns once the first run is about to read its pairs.
  const int writer = open(fifo.c_str(), O_WRONLY | O_CLOEXEC);
  const ProgramResult second = RunProgram(Command("shared"));
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_THAT(second.err, HasSubstr(absl::StrFormat("(process %d on ", first)));
  EXPECT_THAT(second.err, HasSubstr(dir_.File("shared")));

  kill(first, SIGKILL);
  waitpid(first, nullptr, 0);
  close(writer);
  const ProgramResult third = RunProgram(Command("shared"));
  EXPECT_EQ(third.exit_code, 0) << third.err;
}

TEST_P(TrainingFolderTest, WhatKilledRunsLeftIsRemovedAndWhatLivesIsNot) {
  const pid_t gone = Start({"/bin/true"});
  waitpid(gone, nullptr, 0);
  for (const pid_t pid : {gone, getpid()}) {
    const std::string suffix = absl::StrFormat(".tmp-%d", pid);
    for (const std::string& name :
         {"7" + suffix + "/weights", "report.html" + suffix + "-0",
          "checkpoint.safetensors" + suffix + "-2", "own" + suffix}) {
      const std::string path = "left/" + name;
      std::filesystem::create_directories(
          std::filesystem::path(dir_.File(path)).parent_path());
      dir_.Write(path, "half");
    }
  }
  ASSERT_EQ(RunProgram(Command("left")).exit_code, 0);
  const std::string gone_number = absl::StrFormat("tmp-%d", gone);
  int num_gone = 0, num_others = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(dir_.File("left"))) {
    const std::string path = entry.path();
    if (path.find(gone_number) != std::string::npos) ++num_gone;
    if (path.find(absl::StrFormat("tmp-%d", getpid())) != std::string::npos) {
      ++num_others;
    }
  }
  // What remains is the name that is not the trainer's, and the four files of a
  // live process with the folder of one.
  EXPECT_EQ(num_gone, 1);
  EXPECT_EQ(num_others, 5);
}

INSTANTIATE_TEST_SUITE_P(Plain, TrainingFolderTest,
                         ::testing::Values(TrainCase{"Adam", {}}),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace semrank
