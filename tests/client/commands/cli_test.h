// The `semrank` program as a user runs it, against a server in this process.
#ifndef SEMRANK_TESTS_CLIENT_COMMANDS_CLI_TEST_H_
#define SEMRANK_TESTS_CLIENT_COMMANDS_CLI_TEST_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/client/lib/fake_server.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

namespace semrank {

inline constexpr const char* kProgram = SEMRANK_BINARY_DIR "/semrank";

class CliTest : public ::testing::Test {
 protected:
  // `arguments` after the address.
  ProgramResult Run(std::vector<std::string> arguments,
                    const ProgramOptions& options = {}) {
    arguments.insert(arguments.begin(),
                     {kProgram, "--address=" + server_.address()});
    return RunProgram(arguments, options);
  }

  FakeServer server_;
  TempDir dir_;
};

}  // namespace semrank

#endif  // SEMRANK_TESTS_CLIENT_COMMANDS_CLI_TEST_H_
