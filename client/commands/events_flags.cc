#include "client/commands/events_flags.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "client/commands/command.h"
#include "model/cli/exit_code.h"
#include "model/events/event_address.h"
#include "model/redis/redis_url.h"

// The table of actions says which flags an action uses. Its help is made from
// that, and so is the refusal of the flags of others: a flag that has no effect
// would hide a mistake. An environment variable or --config is for all actions,
// and is not refused.
namespace semrank {
namespace {

constexpr std::string_view kEventsUsage = R"(Usage:
  semrank events stats DIR... [flags]
  semrank events join DIR... --output=FILE [flags]
  semrank events compare DIR... [flags]
  semrank events delete --user=ID DIR
  semrank events delete --user=ID --stream=redis://HOST/STREAM --events_key=FILE
  semrank events import --ubi_queries=FILE --ubi_events=FILE --output=DIR
  semrank events import --stream=ADDRESS --output=DIR

Works on the folders of semrank-server --events, also while servers write in them.
Several folders are read as one: a click may be reported to another server than the one
that ranked. Single files may be given, too. 'semrank events ACTION --help' describes an
action and lists its flags.

  stats    counts lists and events by kind, model version and position
  join     makes training data of lists and clicks
  compare  says which of two interleaved models users prefer
  delete   removes the lists that were shown to a user, and the events on them, from a folder
           or a stream of Redis
  import   makes a folder of events of OpenSearch's UBI, or of a stream of Redis or Kafka

Examples:
  semrank events stats /var/lib/semrank/events
  semrank events join events-1/ events-2/ --since=2026-11-01 --output=clicks.tsv
  semrank-train --train=clicks.tsv --model_dir=models/shop
  semrank events compare events/ --format=json
)";

constexpr std::string_view kStatsUsage = R"(Usage:
  semrank events stats DIR... [flags]

Counts lists and events by kind, model version and position. DIR are folders of
semrank-server --events, or files of them.
)";
constexpr std::string_view kJoinUsage = R"(Usage:
  semrank events join DIR... --output=FILE [flags]

Attaches clicks to the lists that were shown and writes training data,
query<TAB>title<TAB>clicks<TAB>impressions<TAB>position, one line for each query, title and
position. Prints what was dropped, and how likely users look at each position, if enough
titles changed theirs (semrank-server --explore).

Example:
  semrank events join events-1/ events-2/ --since=2026-11-01 --output=clicks.tsv
)";
constexpr std::string_view kCompareUsage = R"(Usage:
  semrank events compare DIR... [flags]

Says which of two interleaved models users prefer (semrank-server --interleave, or
interleave in a request): wins, ties and losses by session, sign test, and the share of
sessions of the first model with its interval.
)";
constexpr std::string_view kDeleteUsage = R"(Usage:
  semrank events delete --user=ID DIR
  semrank events delete --user=ID --stream=redis://HOST/STREAM --events_key=FILE

Removes the lists that were shown to a user, and the events on them, from a folder or from a
stream of Redis. The server of a folder must be stopped: its file cannot be replaced. Servers
may write to the stream at the same time; what they add for the user after the command began
stays, as do entries that cannot be read. No record of Kafka can be deleted: all are removed
when the retention of the topic ends. Delete the user from folders into which a stream was
imported, too.
)";
constexpr std::string_view kImportUsage = R"(Usage:
  semrank events import --ubi_queries=FILE --ubi_events=FILE --output=DIR
  semrank events import --stream=ADDRESS --output=DIR

Turns exports of OpenSearch's indices ubi_queries and ubi_events, JSON lines, into a folder
of events; or copies what servers with --events=redis://... or kafka:... have kept since the
last import into the folder, which keeps the position.

Example:
  semrank events import --stream=redis://cache.internal/shop:events --output=events
)";

// The flags of an action that joins. --max_bad_lines and --format are for all
// actions.
std::vector<std::string> JoinFlags(std::vector<std::string> others = {}) {
  others.insert(others.end(),
                {"kinds", "window", "since", "until", "max_clicks_per_minute",
                 "min_fully_clicked", "max_join_bytes"});
  return others;
}

// A day, "2026-11-01", or a time of RFC 3339. No default is printed.
void AddDateFlag(CommandLine& command, std::string_view name,
                 std::string_view help, std::int64_t* time_ms) {
  const auto set = [time_ms](const std::string& text) {
    absl::Time time;
    std::string error;
    if (!absl::ParseTime("%Y-%m-%d", text, absl::UTCTimeZone(), &time,
                         &error) &&
        !absl::ParseTime(absl::RFC3339_full, text, &time, &error)) {
      return absl::InvalidArgumentError(
          "must be a day such as 2026-11-01, or a time such as "
          "2026-11-01T12:00:00Z");
    }
    *time_ms = absl::ToUnixMillis(time);
    return absl::OkStatus();
  };
  command.Add(FlagSpec{.name = std::string(name),
                       .help = std::string(help),
                       .form = "DATE",
                       .set = set,
                       .get = [] { return std::string(); }});
}

void AddJoinFlags(CommandLine& command, EventsOptions& options) {
  command.Group("Clicks");
  command.Add("kinds", &options.join.kinds,
              "Kinds of events that count as clicks.");
  command.Add("window", &options.join.window,
              "A click counts if it is at most this far from its list.",
              {.above_min = true});
  AddDateFlag(command, "since",
              "Drop lists that were shown before this day (UTC) or time.",
              &options.join.begin_ms);
  AddDateFlag(command, "until",
              "Drop lists that were shown at this time or later.",
              &options.join.end_ms);
  command.Group("Robots");
  command.Add("max_clicks_per_minute", &options.join.max_clicks_per_minute,
              "A session, or a user without sessions, that reports more clicks "
              "in a minute is a robot: its lists are dropped. 0 = no limit.",
              {.min = 0});
  command.Add("min_fully_clicked", &options.join.min_fully_clicked,
              "A session that clicks every result of a list of at least this "
              "length is a robot. 0 = such sessions are not robots.",
              {.min = 0});
}

}  // namespace

ProgramInfo EventsInfo() {
  return {.name = "events",
          .summary = "joins, counts, compares or deletes recorded clicks",
          .usage = kEventsUsage};
}

void AddEventsFlags(CommandLine& command, EventsOptions& options) {
  command.AddArguments(&options.arguments);
  AddJoinFlags(command, options);
  command.Group("Events");
  command.Add("titles", &options.titles,
              "For join: a file of documents, \"doc_id<TAB>title\" or .csv or "
              ".jsonl as for semrank put, with the titles of results that were "
              "recorded without, as those of UBI.",
              "FILE");
  command.Add("monotone", &options.monotone,
              "For join: examination does not increase with the position.");
  command.Add("effect", &options.effect,
              "For compare: the share of decided sessions beyond one half that "
              "is to be found, for the number of sessions that this needs.",
              {.min = 0.001, .max = 0.499});
  AddUtf8Flag(command, "user",
              "For delete: the user, as the application names it to the "
              "server.",
              &options.user);
  command.Add("ubi_queries", &options.ubi_queries,
              "For import: file of ubi_queries records, a line each; plain, "
              ".gz or .zst.",
              "FILE");
  command.Add("ubi_events", &options.ubi_events,
              "For import: file of ubi_events records.", "FILE");
  command.Add(
      "stream", &options.stream,
      absl::StrFormat(
          "For import, and of Redis for delete: the --events of servers that "
          "keep events in Redis or Kafka, %s. rediss:// has the files of "
          "--tls_ca, --tls_cert and --tls_key. SEMRANK_STREAM instead keeps "
          "the password out of process lists.",
          kStreamAddressForms),
      "ADDRESS");
  // The address may have a password, which errors and the list of values must
  // not show.
  command.HideSecrets("stream", WithoutPassword);
  command.Add("events_key", &options.events_key,
              "For delete of a stream: the file of --events_key of the "
              "servers.",
              "FILE");
  command.Add("kafka_config", &options.kafka_config,
              "For import of kafka:...: file of librdkafka properties, "
              "name=value, one a line.",
              "FILE");
  command.Add("max_age", &options.max_age,
              "For import of a stream: remove files of --output that were "
              "written longer ago. 0 = keep all.",
              {.min = absl::ZeroDuration()});
  AddBadLinesFlag(command, &options.max_bad_lines);
  command.Add("max_join_bytes", &options.join.max_bytes,
              "Memory that texts, sums and lists may take before the command "
              "ends with an error.",
              {.min = 1});
  command.Add("format", &options.json,
              "Format of what is printed, beside the file of --output.",
              {{"text", false}, {"json", true}});
}

const std::vector<EventsAction>& EventsActions() {
  // The table is never destroyed, so that no order of destruction matters.
  static const auto* const actions = new std::vector<EventsAction>{
      {.kind = EventsAction::kStats,
       .name = "stats",
       .usage = kStatsUsage,
       .flags = JoinFlags()},
      {.kind = EventsAction::kJoin,
       .name = "join",
       .usage = kJoinUsage,
       .writes_output = true,
       .flags = JoinFlags({"titles", "monotone"})},
      {.kind = EventsAction::kCompare,
       .name = "compare",
       .usage = kCompareUsage,
       .flags = JoinFlags({"effect"})},
      {.kind = EventsAction::kDelete,
       .name = "delete",
       .usage = kDeleteUsage,
       .folders = EventsAction::kMayHaveFolders,
       .flags = {"user", "stream", "events_key"},
       .program_flags = {"tls_ca", "tls_cert", "tls_key"}},
      {.kind = EventsAction::kImport,
       .name = "import",
       .usage = kImportUsage,
       .folders = EventsAction::kHasNoFolders,
       .writes_output = true,
       .flags = {"ubi_queries", "ubi_events", "stream", "kafka_config",
                 "max_age", "max_join_bytes"},
       .program_flags = {"tls_ca", "tls_cert", "tls_key"}}};
  return *actions;
}

std::vector<std::string> FlagsOf(const EventsAction& action) {
  std::vector<std::string> flags = action.flags;
  flags.insert(flags.end(), {"max_bad_lines", "format", "output"});
  flags.insert(flags.end(), action.program_flags.begin(),
               action.program_flags.end());
  return flags;
}

absl::Status CheckEventsFlags(const CommandLine& command,
                              const EventsAction& action) {
  // The error names the actions that use the flag: the user may have meant one
  // of them.
  std::map<std::string, std::vector<std::string>> users;  // of the others
  for (const EventsAction& other : EventsActions()) {
    for (const std::string& flag : other.flags) {
      if (std::ranges::count(action.flags, flag) == 0) {
        users[flag].emplace_back(other.name);
      }
    }
  }
  for (const auto& [flag, names] : users) {
    if (command.Source(flag) != FlagSource::kCommandLine) continue;
    return UsageError(
        absl::StrFormat("--%s: is not for semrank events %s, but for %s", flag,
                        action.name, absl::StrJoin(names, ", ")));
  }
  return absl::OkStatus();
}

}  // namespace semrank
