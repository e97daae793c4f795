#include "tests/support/run_program.h"

#include <fcntl.h>
#include <pty.h>
#include <spawn.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

extern char** environ;

namespace semrank {
namespace {

// Closes on destruction; -1 = none.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() { Close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  void Close() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

// An unnamed file: unlike a pipe it takes any amount without a reader.
int UnnamedFile() {
  std::FILE* file = std::tmpfile();
  if (file == nullptr) std::abort();
  const int fd = fcntl(fileno(file), F_DUPFD_CLOEXEC, 0);
  std::fclose(file);
  return fd;
}

// A pipe or a terminal ends with an error or with 0 bytes; both are the end.
std::string ReadToEnd(int fd) {
  std::string text;
  char chunk[4096];
  for (ssize_t n; (n = read(fd, chunk, sizeof(chunk))) > 0;) {
    text.append(chunk, n);
  }
  return text;
}

std::string ReadFromStart(int fd) {
  lseek(fd, 0, SEEK_SET);
  return ReadToEnd(fd);
}

struct Terminal {
  int program_side = -1;
  int our_side = -1;
};

Terminal OpenTerminal() {
  Terminal terminal;
  termios raw = {};
  cfmakeraw(&raw);
  if (openpty(&terminal.our_side, &terminal.program_side, nullptr, &raw,
              nullptr) != 0) {
    std::abort();
  }
  fcntl(terminal.our_side, F_SETFD, FD_CLOEXEC);
  fcntl(terminal.program_side, F_SETFD, FD_CLOEXEC);
  return terminal;
}

std::vector<std::string> ChildEnvironment(
    const std::vector<std::string>& added) {
  std::vector<std::string> environment = added;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string entry = *variable;
    if (!entry.starts_with("SEMRANK_")) environment.push_back(entry);
  }
  return environment;
}

std::vector<char*> PointersTo(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Process number, or -1.
pid_t Spawn(std::vector<std::string> command,
            std::vector<std::string> environment, int in, int out, int err) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
  pid_t pid = -1;
  const int failed =
      posix_spawn(&pid, command[0].c_str(), &actions, nullptr,
                  PointersTo(command).data(), PointersTo(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  return failed == 0 ? pid : -1;
}

int WaitForExitCode(pid_t pid) {
  int status = 0;
  if (waitpid(pid, &status, 0) != pid) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

ProgramResult RunProgram(const std::vector<std::string>& command,
                         const ProgramOptions& options) {
  const Descriptor in(UnnamedFile());
  if (write(in.get(), options.input.data(), options.input.size()) !=
      static_cast<ssize_t>(options.input.size())) {
    return {};
  }
  lseek(in.get(), 0, SEEK_SET);
  const Terminal terminal = options.terminal ? OpenTerminal() : Terminal{};
  const Descriptor our_side(terminal.our_side);
  Descriptor out(options.terminal ? terminal.program_side : UnnamedFile());
  const Descriptor err(UnnamedFile());

  const pid_t pid = Spawn(command, ChildEnvironment(options.environment),
                          in.get(), out.get(), err.get());
  if (pid < 0) return {};
  if (options.on_start != nullptr) options.on_start(pid);
  ProgramResult result;
  if (options.terminal) {
    out.Close();  // the terminal ends when the program's copy is the last
    result.out = ReadToEnd(our_side.get());
  }
  result.exit_code = WaitForExitCode(pid);
  if (!options.terminal) result.out = ReadFromStart(out.get());
  result.err = ReadFromStart(err.get());
  return result;
}

}  // namespace semrank
