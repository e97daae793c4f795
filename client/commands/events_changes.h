// The actions of `semrank events` that change records: delete and import.
#ifndef SEMRANK_CLIENT_COMMANDS_EVENTS_CHANGES_H_
#define SEMRANK_CLIENT_COMMANDS_EVENTS_CHANGES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/commands/command.h"
#include "client/commands/events_flags.h"
#include "client/commands/events_output.h"

namespace semrank {

// What an action works with.
struct EventsRun {
  EventsOptions& options;
  std::vector<std::string> folders;
  EventsReport report;
  const CommonOptions& common;
};

// Both write the report. UsageError or FlagError for flags that do not suit the
// action.
absl::Status RunEventDeletion(EventsRun& run);
absl::Status RunEventImport(EventsRun& run);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_COMMANDS_EVENTS_CHANGES_H_
