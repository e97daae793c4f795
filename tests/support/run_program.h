// Runs a program as a user does, and returns what it said.
#ifndef SEMRANK_TESTS_SUPPORT_RUN_PROGRAM_H_
#define SEMRANK_TESTS_SUPPORT_RUN_PROGRAM_H_

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace semrank {

struct ProgramOptions {
  // Its standard input.
  std::string input = "";
  // Standard output is a terminal; a raw one, so \n stays \n.
  bool terminal = false;
  // "NAME=value", beside the test's own.
  std::vector<std::string> environment = {};
  // A test that sends signals gets the process id here.
  std::function<void(pid_t)> on_start = nullptr;
};

struct ProgramResult {
  int exit_code = -1;  // 128 + signal if a signal ended it, -1: never started
  std::string out;
  std::string err;
};

// `command[0]` is a path. Waits for the end; ctest's time limit is the only
// one. SEMRANK_* variables of the test's own environment are not passed on.
ProgramResult RunProgram(const std::vector<std::string>& command,
                         const ProgramOptions& options = {});

}  // namespace semrank

#endif  // SEMRANK_TESTS_SUPPORT_RUN_PROGRAM_H_
