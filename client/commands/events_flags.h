// Flags and actions of `semrank events`. The actions have one help text, since
// most flags are those of the join that three of them begin with.
#ifndef SEMRANK_CLIENT_COMMANDS_EVENTS_FLAGS_H_
#define SEMRANK_CLIENT_COMMANDS_EVENTS_FLAGS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
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
  std::string events_key;
  std::string kafka_config;
  absl::Duration max_age;
  bool json = false;
};

ProgramInfo EventsInfo();

void AddEventsFlags(CommandLine& command, EventsOptions& options);

struct EventsAction {
  enum Kind { kStats, kJoin, kCompare, kDelete, kImport };
  enum Folders { kNeedsFolders, kMayHaveFolders, kHasNoFolders };

  Kind kind = kStats;
  std::string_view name = {};
  std::string_view usage = {};
  Folders folders = kNeedsFolders;
  bool writes_output = false;  // --output names a file or a folder
  // Further flags of the command, and of the program, that the action uses.
  std::vector<std::string> flags = {};
  std::vector<std::string> program_flags = {};
};
const std::vector<EventsAction>& EventsActions();

// All flags that an action uses, for its help.
std::vector<std::string> FlagsOf(const EventsAction& action);

// After parsing: UsageError if the command line has a flag that only other
// actions use.
absl::Status CheckEventsFlags(const CommandLine& command,
                              const EventsAction& action);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_COMMANDS_EVENTS_FLAGS_H_
