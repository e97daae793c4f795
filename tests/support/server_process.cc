#include "tests/support/server_process.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

namespace semrank {
namespace {

// In the child: only async-signal-safe calls.
[[noreturn]] void Run(char* const* arguments, int out) {
  dup2(out, STDOUT_FILENO);
  execv(arguments[0], arguments);
  _exit(127);
}

// The word after "name=" in the ready line; empty = none.
std::string Field(const std::string& line, const std::string& name) {
  const std::size_t begin = line.find(" " + name + "=");
  if (begin == std::string::npos) return "";
  const std::size_t value = begin + name.size() + 2;
  return line.substr(value, line.find_first_of(" \n", value) - value);
}

}  // namespace

ServerProcess::ServerProcess(const std::string& program,
                             const std::vector<std::string>& flags) {
  std::vector<std::string> arguments = {program, "--listen_address=127.0.0.1:0",
                                        "--http_address=127.0.0.1:0"};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);

  int fds[2];
  if (pipe(fds) != 0) abort();
  pid_ = fork();
  if (pid_ == 0) Run(argv.data(), fds[1]);
  close(fds[1]);
  FILE* const out = fdopen(fds[0], "r");
  char line[512] = "";
  const bool has_line = fgets(line, sizeof(line), out) != nullptr;
  fclose(out);
  grpc_address_ = Field(line, "grpc");
  http_address_ = Field(line, "http");
  if (!has_line || grpc_address_.empty() || http_address_.empty()) {
    fprintf(stderr, "%s did not become ready: \"%s\"\n", program.c_str(), line);
    abort();
  }
}

ServerProcess::~ServerProcess() {
  if (pid_ < 0) return;
  Signal(SIGKILL);
  Wait();
}

void ServerProcess::Signal(int signal_number) const {
  if (pid_ > 0) kill(pid_, signal_number);
}

int ServerProcess::Wait() {
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace semrank
