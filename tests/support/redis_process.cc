#include "tests/support/redis_process.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <utility>

namespace semrank {
namespace {

constexpr int kMaxStarts = 20;

// A port that is free now; another process may take it first.
int FreePort() {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    abort();
  }
  close(fd);
  return ntohs(address.sin_port);
}

// In the child: only async-signal-safe calls.
[[noreturn]] void Run(char* const* arguments, int out) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(out, STDOUT_FILENO);
  execvp(arguments[0], arguments);
  _exit(127);
}

}  // namespace

RedisProcess::RedisProcess(std::vector<std::string> arguments)
    : arguments_(std::move(arguments)) {
  for (int i = 0; i < kMaxStarts; ++i) {
    port_ = FreePort();
    if (Start()) return;
  }
  fprintf(stderr, "redis-server does not start\n");
  abort();
}

RedisProcess::~RedisProcess() { Kill(); }

std::string RedisProcess::url() const {
  return "redis://127.0.0.1:" + std::to_string(port_);
}

void RedisProcess::Freeze() const { kill(pid_, SIGSTOP); }

void RedisProcess::Thaw() const { kill(pid_, SIGCONT); }

void RedisProcess::Kill() {
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void RedisProcess::StartAgain() {
  for (int i = 0; i < kMaxStarts; ++i) {
    if (Start()) return;
  }
  abort();
}

bool RedisProcess::Start() {
  std::vector<std::string> words = {"redis-server",
                                    "--port",
                                    std::to_string(port_),
                                    "--bind",
                                    "127.0.0.1",
                                    "--save",
                                    "",
                                    "--dir",
                                    dir_.path()};
  words.insert(words.end(), arguments_.begin(), arguments_.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  int fds[2];
  if (pipe(fds) != 0) abort();
  pid_ = fork();
  if (pid_ == 0) Run(argv.data(), fds[1]);
  close(fds[1]);
  FILE* const out = fdopen(fds[0], "r");
  char line[1024];
  bool ready = false;
  while (!ready && fgets(line, sizeof(line), out) != nullptr) {
    ready = strstr(line, "Ready to accept connections") != nullptr;
  }
  fclose(out);
  if (!ready) Kill();
  return ready;
}

}  // namespace semrank
