#include "tests/support/server_process.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

namespace semrank {
namespace {

// In the child: only async-signal-safe calls.
[[noreturn]] void Run(char* const* arguments, int stream, int fd) {
  dup2(fd, stream);
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
  int fds[2];
  if (pipe(fds) != 0) abort();
  Start(program, flags, STDOUT_FILENO, fds[1]);
  close(fds[1]);
  FILE* const out = fdopen(fds[0], "r");
  char line[512] = "";
  const bool has_line = fgets(line, sizeof(line), out) != nullptr;
  fclose(out);
  TakeAddresses(program, has_line ? line : "");
}

std::unique_ptr<ServerProcess> ServerProcess::StartListening(
    const std::string& program, const std::vector<std::string>& flags) {
  std::unique_ptr<ServerProcess> server(new ServerProcess);
  // A file, since the server writes its log until it ends.
  FILE* const log = tmpfile();
  if (log == nullptr) abort();
  server->Start(program, flags, STDERR_FILENO, fileno(log));
  std::string line;
  while (Field(line, "http").empty() || line.back() != '\n') {
    char text[8192];
    const ssize_t size = pread(fileno(log), text, sizeof(text), 0);
    line.assign(text, size > 0 ? size : 0);
    // Its end, which Wait then takes.
    siginfo_t info = {};
    waitid(P_PID, server->pid_, &info, WEXITED | WNOHANG | WNOWAIT);
    if (info.si_pid != 0) break;
    sched_yield();
  }
  fclose(log);
  server->TakeAddresses(program, line);
  return server;
}

void ServerProcess::Start(const std::string& program,
                          const std::vector<std::string>& flags, int stream,
                          int fd) {
  std::vector<std::string> arguments = {program, "--listen_address=127.0.0.1:0",
                                        "--http_address=127.0.0.1:0"};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  pid_ = fork();
  if (pid_ == 0) Run(argv.data(), stream, fd);
}

void ServerProcess::TakeAddresses(const std::string& program,
                                  const std::string& line) {
  grpc_address_ = Field(line, "grpc");
  http_address_ = Field(line, "http");
  health_address_ = Field(line, "health");
  if (grpc_address_.empty() || http_address_.empty()) {
    fprintf(stderr, "%s does not listen: \"%s\"\n", program.c_str(),
            line.c_str());
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
