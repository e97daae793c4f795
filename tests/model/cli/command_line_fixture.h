// A program with flags of every type, and variables of the environment.
#ifndef SEMRANK_TESTS_MODEL_CLI_COMMAND_LINE_FIXTURE_H_
#define SEMRANK_TESTS_MODEL_CLI_COMMAND_LINE_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/cli/command_line.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {

using Args = std::vector<std::string>;
inline constexpr absl::StatusCode kWrong = absl::StatusCode::kInvalidArgument;
inline constexpr ProgramInfo kTrainer = {
    .name = "semrank-train",
    .summary = "learns two towers",
    .usage = "Usage: semrank-train --train=FILE\n",
    .build_note = "with MPI"};

enum class Optimizer { kSgd, kAdam };

struct TrainerOptions {
  double gamma = 10;
  int batch_size = 1024;
  std::uint64_t seed = 1;
  bool shared_towers = false;
  bool normalize = true;  // begins with "no"
  std::vector<std::string> train;
  std::vector<int> hidden = {300, 300};
  std::string model_dir;
  absl::Duration drain_delay = absl::Seconds(5);
  Optimizer optimizer = Optimizer::kAdam;
  std::optional<double> min_score;
};

// Sets a variable for the life of this object.
class EnvironmentVariable {
 public:
  EnvironmentVariable(const char* name, const std::string& value)
      : name_(name) {
    setenv(name, value.c_str(), /*overwrite=*/1);
  }
  ~EnvironmentVariable() { unsetenv(name_); }

 private:
  const char* name_;
};

class CommandLineTest : public ::testing::Test {
 protected:
  CommandLineTest() {
    command_line_.Group("Training");
    command_line_.Add("gamma", &options_.gamma, "Factor on the cosine.",
                      {.min = 0, .max = 100, .above_min = true});
    command_line_.Add("batch_size", &options_.batch_size,
                      "Pairs in a mini-batch.", {.min = 1, .max = 16384});
    command_line_.Add("shared_towers", &options_.shared_towers, "One tower.");
    command_line_.Group("Data");
    command_line_.Add("train", &options_.train, "Files of pairs.");
    command_line_.Add("model_dir", &options_.model_dir, "Folder.");
    command_line_.Group("Training", CommandLine::Level::kAdvanced);
    command_line_.Add("seed", &options_.seed, "Random seed.");
    command_line_.Add("hidden", &options_.hidden, "Sizes of hidden layers.",
                      {.min = 1, .max = 4096});
    command_line_.Add("optimizer", &options_.optimizer, "Optimizer.",
                      {{"sgd", Optimizer::kSgd}, {"adam", Optimizer::kAdam}});
    command_line_.Add("normalize", &options_.normalize, "Unit vectors.");
    command_line_.Add("min_score", &options_.min_score, "Least score.");
    command_line_.Add("drain_delay", &options_.drain_delay, "Time.",
                      {.max = absl::Hours(1)});
  }

  absl::Status Parse(const Args& args) {
    return command_line_.ParseArguments(args).status();
  }
  absl::Status ParseFile(std::string_view content) {
    return Parse({"--config=" + dir_.Write("train.toml", content)});
  }
  std::string Help(const std::string& flag) {
    return command_line_.ParseArguments({flag}).value_or("");
  }
  FlagValue Value(std::string_view name) {
    for (FlagValue& value : command_line_.Values()) {
      if (value.name == name) return value;
    }
    return {};
  }

  TrainerOptions options_;
  CommandLine command_line_{kTrainer};
  TempDir dir_;
};

}  // namespace semrank

#endif  // SEMRANK_TESTS_MODEL_CLI_COMMAND_LINE_FIXTURE_H_
