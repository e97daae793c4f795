// Runs semrank-train as a program that tests kill and start again.
#ifndef SEMRANK_TESTS_INTEGRATION_TRAINING_PROGRAM_H_
#define SEMRANK_TESTS_INTEGRATION_TRAINING_PROGRAM_H_

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
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

// Checkpoints of the runs that the tests kill.
inline constexpr char kCheckpoint[] = "killed/checkpoint.safetensors";
inline constexpr char kUnfinishedCheckpoint[] =
    "killed/checkpoint.safetensors.tmp-";

// Waits for file names in a folder, by inotify.
class FolderWatch {
 public:
  FolderWatch(const std::string& folder, std::uint32_t events)
      : fd_(inotify_init1(IN_CLOEXEC)) {
    inotify_add_watch(fd_, folder.c_str(), events);
  }
  ~FolderWatch() { close(fd_); }

  // Blocks until `count` more events have had names that begin with `name`, or
  // the process has ended.
  void Wait(std::string_view name, int count, pid_t process) {
    alignas(inotify_event) char buffer[4096];
    while (count > 0) {
      pollfd events = {fd_, POLLIN, 0};
      if (poll(&events, 1, kPollMilliseconds) == 0) {
        if (HasEnded(process)) return;
        continue;
      }
      const ssize_t size = read(fd_, buffer, sizeof(buffer));
      ASSERT_GT(size, 0);
      for (ssize_t at = 0; at < size;) {
        const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
        if (event->len > 0 && std::string_view(event->name).starts_with(name)) {
          --count;
        }
        at += static_cast<ssize_t>(sizeof(inotify_event)) + event->len;
      }
    }
  }

 private:
  static constexpr int kPollMilliseconds = 100;

  // Does not reap the process, so that the caller can wait for it.
  static bool HasEnded(pid_t process) {
    siginfo_t ended = {};
    waitid(P_PID, process, &ended, WEXITED | WNOHANG | WNOWAIT);
    return ended.si_pid == process;
  }

  int fd_;
};

struct TrainCase {
  const char* name;
  std::vector<std::string> flags;
  // Trains on more pairs, which do not fit in memory, in larger mini-batches.
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
        GetParam().streamed ? "--memory_limit=1200000" : "--memory_limit=0",
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
  // On a busy machine the kill may come when the run is over; it then begins
  // anew, without what was published.
  void RunAndKill(const std::vector<std::string>& command, std::uint32_t events,
                  const std::string& file, int count) {
    const std::filesystem::path path = dir_.File(file);
    for (;;) {
      int status = 0;
      std::filesystem::create_directories(path.parent_path());
      FolderWatch watch(path.parent_path(), events);
      const pid_t pid = Start(command);
      watch.Wait(path.filename().string(), count, pid);
      kill(pid, SIGKILL);
      ASSERT_EQ(waitpid(pid, &status, 0), pid);
      if (WIFSIGNALED(status)) return;
      ASSERT_EQ(WEXITSTATUS(status), 0);
      std::filesystem::remove_all(dir_.File("killed"));
    }
  }

  // Starts the command and does not wait for its end.
  static pid_t Start(const std::vector<std::string>& command) {
    std::vector<char*> arguments;
    for (const std::string& word : command) {
      arguments.push_back(const_cast<char*>(word.c_str()));
    }
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t quiet;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", O_WRONLY, 0);
    pid_t pid = 0;
    EXPECT_EQ(posix_spawn(&pid, arguments[0], &quiet, nullptr, arguments.data(),
                          environ),
              0);
    posix_spawn_file_actions_destroy(&quiet);
    return pid;
  }

  // Runs the command as on a disk that holds no larger files.
  static std::vector<std::string> WithFilesOfAtMost(
      int kib, const std::vector<std::string>& command) {
    std::vector<std::string> limited = {
        "/bin/bash", "-c",
        absl::StrFormat("(trap '' XFSZ; ulimit -f %d; exec \"$@\") 2>&1 | "
                        "cat >&2; exit ${PIPESTATUS[0]}",
                        kib),
        "bash"};
    limited.insert(limited.end(), command.begin(), command.end());
    return limited;
  }

  static int CountOf(std::string_view part, std::string_view text) {
    int count = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; ++at) {
      ++count;
    }
    return count;
  }

  std::string Weights(const std::string& model_dir, int version = 1) const {
    const auto content =
        ReadFile(absl::StrFormat("%s/%d/weights.safetensors",
                                 dir_.File(model_dir), version),
                 1 << 24);
    EXPECT_THAT(content, IsOk());
    return content.value_or("");
  }

  const TempDir dir_;
  std::string train_file_;
};

}  // namespace semrank

#endif  // SEMRANK_TESTS_INTEGRATION_TRAINING_PROGRAM_H_
