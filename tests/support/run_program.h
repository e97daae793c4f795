// Runs one of the programs of this build and waits for it.
#ifndef SEMRANK_TESTS_SUPPORT_RUN_PROGRAM_H_
#define SEMRANK_TESTS_SUPPORT_RUN_PROGRAM_H_

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/temp_dir.h"

namespace semrank {

struct ProgramResult {
  int exit_code = -1;  // -1 = not started, or ended by a signal
  std::string out;
  std::string err;
};

// RunProgram({SEMRANK_BINARY_DIR "/semrank-eval", "--help"}); standard input is
// empty.
inline ProgramResult RunProgram(std::vector<std::string> command) {
  const TempDir dir;
  const std::string out = dir.File("out"), err = dir.File("err");
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, out.c_str(), O_WRONLY | O_CREAT,
                                   0600);
  posix_spawn_file_actions_addopen(&files, 2, err.c_str(), O_WRONLY | O_CREAT,
                                   0600);
  std::vector<char*> argv;
  for (std::string& argument : command) argv.push_back(argument.data());
  argv.push_back(nullptr);
  ProgramResult result;
  pid_t pid = 0;
  int status = 0;
  if (posix_spawn(&pid, argv[0], &files, nullptr, argv.data(), environ) == 0 &&
      waitpid(pid, &status, 0) == pid && WIFEXITED(status)) {
    result.exit_code = WEXITSTATUS(status);
  }
  posix_spawn_file_actions_destroy(&files);
  const auto read = [](const std::string& path) {
    std::ostringstream content;
    content << std::ifstream(path, std::ios::binary).rdbuf();
    return content.str();
  };
  result.out = read(out);
  result.err = read(err);
  return result;
}

}  // namespace semrank

#endif  // SEMRANK_TESTS_SUPPORT_RUN_PROGRAM_H_
