// semrank-train is killed (SIGKILL) again and again, goes on with --resume, and
// ends with the very weights of a run that was left alone.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/base/file_io.h"
#include "tests/support/run_program.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Of the runs that are killed.
constexpr char kCheckpoint[] = "killed/checkpoint.safetensors";
constexpr char kUnfinishedCheckpoint[] = "killed/checkpoint.safetensors.tmp";

// Waits for names in a folder, as the kernel tells of them.
class FolderWatch {
 public:
  FolderWatch(const std::string& folder, std::uint32_t events)
      : fd_(inotify_init1(IN_CLOEXEC)) {
    inotify_add_watch(fd_, folder.c_str(), events);
  }
  ~FolderWatch() { close(fd_); }

  // Blocks until `count` more events have told of `name`.
  void Wait(std::string_view name, int count) {
    alignas(inotify_event) char buffer[4096];
    while (count > 0) {
      const ssize_t size = read(fd_, buffer, sizeof(buffer));
      ASSERT_GT(size, 0);
      for (ssize_t at = 0; at < size;) {
        const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
        if (event->len > 0 && name == event->name) --count;
        at += static_cast<ssize_t>(sizeof(inotify_event)) + event->len;
      }
    }
  }

 private:
  int fd_;
};

struct TrainCase {
  const char* name;
  std::vector<std::string> flags;
  // More pairs, which do not fit in memory, in larger mini-batches.
  bool streamed = false;
};

class ResumeTest : public ::testing::TestWithParam<TrainCase> {
 protected:
  ResumeTest() {
    const bool streamed = GetParam().streamed;
    std::string pairs;
    for (int i = 0; i < (streamed ? 2400 : 240); ++i) {
      absl::StrAppendFormat(&pairs, "query %d of group %d\ttitle %d\t%d\n", i,
                            i % 7, streamed ? i : i % 40, 1 + i % 3);
    }
    train_file_ = dir_.Write("clicks.tsv", pairs);
  }

  std::vector<std::string> Command(const std::string& model_dir,
                                   std::vector<std::string> more = {}) const {
    std::vector<std::string> command = {
        std::string(SEMRANK_BINARY_DIR) + "/semrank-train",
        "--train=" + train_file_,
        "--model_dir=" + dir_.File(model_dir),
        GetParam().streamed ? "--batch_size=160" : "--batch_size=16",
        GetParam().streamed ? "--memory_limit=1000000" : "--memory_limit=0",
        "--hidden=12",
        "--embedding_dim=8",
        "--epochs=4",
        "--patience=0",
        "--valid_fraction=0.1",
        "--checkpoint_batches=1"};
    const std::vector<std::string>& flags = GetParam().flags;
    command.insert(command.end(), flags.begin(), flags.end());
    command.insert(command.end(), more.begin(), more.end());
    return command;
  }

  // Kills the program when `events` of the file have been seen `count` times.
  void RunAndKill(const std::vector<std::string>& command, std::uint32_t events,
                  const std::string& file, int count) {
    const std::filesystem::path path = dir_.File(file);
    std::filesystem::create_directories(path.parent_path());
    FolderWatch watch(path.parent_path(), events);
    std::vector<char*> arguments;
    for (const std::string& word : command) {
      arguments.push_back(const_cast<char*>(word.c_str()));
    }
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t quiet;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", O_WRONLY, 0);
    pid_t pid = 0;
    ASSERT_EQ(posix_spawn(&pid, arguments[0], &quiet, nullptr, arguments.data(),
                          environ),
              0);
    posix_spawn_file_actions_destroy(&quiet);
    watch.Wait(path.filename().string(), count);
    kill(pid, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    ASSERT_TRUE(WIFSIGNALED(status)) << "it was over before it was killed";
  }

  std::string Weights(const std::string& model_dir) const {
    const auto content =
        ReadFile(dir_.File(model_dir) + "/1/weights.safetensors", 1 << 24);
    EXPECT_THAT(content, IsOk());
    return content.value_or("");
  }

  const TempDir dir_;
  std::string train_file_;
};

TEST_P(ResumeTest, KilledAtAnyMomentItEndsWithTheSameWeights) {
  const ProgramResult undisturbed = RunProgram(Command("whole"));
  ASSERT_EQ(undisturbed.exit_code, 0) << undisturbed.err;
  EXPECT_EQ(undisturbed.err.find("streamed from disk") != std::string::npos,
            GetParam().streamed);
  const std::vector<std::string> again = Command("killed", {"--resume"});
  // 14 or 15 batches an epoch: in the first, at its end, in the second, ...
  for (const int count : {5, 9, 1, 13, 3}) {
    RunAndKill(again, IN_MOVED_TO, kCheckpoint, count);
  }
  // While a checkpoint is being written, which leaves the one before.
  RunAndKill(Command("killed", {"--resume", "--threads=2"}), IN_CREATE,
             kUnfinishedCheckpoint, 2);
  // While the pairs are read: they are opened once to hold them, once to count
  // them; in a stream then for each block.
  for (const int count :
       GetParam().streamed ? std::vector{1, 3, 12} : std::vector{1}) {
    RunAndKill(again, IN_OPEN | IN_CLOSE_NOWRITE, "clicks.tsv", count);
  }
  const ProgramResult last = RunProgram(again);
  ASSERT_EQ(last.exit_code, 0) << last.err;
  EXPECT_THAT(last.err, HasSubstr("going on from"));
  EXPECT_EQ(Weights("killed"), Weights("whole"));
  EXPECT_FALSE(std::filesystem::exists(dir_.File(kCheckpoint)));
  EXPECT_FALSE(std::filesystem::exists(dir_.File(kUnfinishedCheckpoint)));
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
        TrainCase{"SgdClippedDecaying",
                  {"--optimizer=sgd", "--learning_rate=0.5",
                   "--gradient_clip_norm=0.1", "--warmup_batches=20",
                   "--learning_rate_decay=linear"}},
        TrainCase{"Streamed",
                  {"--hash_buckets=200", "--clicks=weight"},
                  /*streamed=*/true},
        TrainCase{"StreamedSsi",
                  {"--tower=ssi", "--max_words=300", "--negatives=4",
                   "--ssi_frequent_words=20", "--ssi_correlated_top_k=1",
                   "--gradient_clip_norm=0.1"},
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
  EXPECT_THAT(result.err, Not(HasSubstr("going on from")));
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
