// Flags of `semrank events`. Its actions have one help text, since most flags
// are those of the join that all of them begin with.
#ifndef SEMRANK_CLIENT_COMMANDS_EVENTS_FLAGS_H_
#define SEMRANK_CLIENT_COMMANDS_EVENTS_FLAGS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "model/cli/command_line.h"
#include "model/data/input_lines.h"
#include "model/events/click_join.h"

namespace semrank {

struct EventsOptions {
  std::vector<std::string> arguments;  // the action and its folders
  ClickJoinOptions join;
  std::string titles;
  BadLineLimit max_bad_lines;
  bool monotone = true;
  double effect = 0.05;
  std::string user;
  std::string ubi_queries;
  std::string ubi_events;
  std::string stream;
  std::string kafka_config;
  bool json = false;
};

void AddEventsFlags(CommandLine& command, EventsOptions& options);

// The flags that an action uses, of the command and of the program.
std::vector<std::string> FlagsOfAction(std::string_view action);

// After parsing: UsageError if the command line has a flag that the action does
// not use.
absl::Status CheckEventsFlags(const CommandLine& command,
                              std::string_view action);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_COMMANDS_EVENTS_FLAGS_H_
