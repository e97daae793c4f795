#include "client/commands/events_flags.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "client/commands/command.h"
#include "model/cli/exit_code.h"
#include "model/events/event_address.h"
#include "model/redis/redis_url.h"

namespace semrank {
namespace {

// A flag and the actions that use it.
struct FlagUse {
  std::string_view flag;
  std::vector<std::string> actions;
};
const std::vector<FlagUse>& FlagUses() {
  static const auto* const uses = new std::vector<FlagUse>{
      {"kinds", {"stats", "join", "compare"}},
      {"window", {"stats", "join", "compare"}},
      {"since", {"stats", "join", "compare"}},
      {"until", {"stats", "join", "compare"}},
      {"max_clicks_per_minute", {"stats", "join", "compare"}},
      {"min_fully_clicked", {"stats", "join", "compare"}},
      {"max_join_bytes", {"stats", "join", "compare", "import"}},
      {"titles", {"join"}},
      {"monotone", {"join"}},
      {"effect", {"compare"}},
      {"user", {"delete"}},
      {"ubi_queries", {"import"}},
      {"ubi_events", {"import"}},
      {"stream", {"import"}},
      {"kafka_config", {"import"}}};
  return *uses;
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
              "length is a robot. 0 = none is for this reason.",
              {.min = 0});
}

}  // namespace

void AddEventsFlags(CommandLine& command, EventsOptions& options) {
  command.AddArguments(&options.arguments);
  AddJoinFlags(command, options);
  command.Group("Events");
  command.Add("titles", &options.titles,
              "For join: a file of documents, \"doc_id<TAB>title\" or .csv or "
              ".jsonl as for semrank put, with the titles of results that were "
              "recorded without, as those of UBI.");
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
              ".gz or .zst.");
  command.Add("ubi_events", &options.ubi_events,
              "For import: file of ubi_events records.");
  command.Add("stream", &options.stream,
              absl::StrFormat(
                  "For import: the --events of servers that keep events in "
                  "Redis or Kafka, %s. rediss:// has the files of --tls_ca, "
                  "--tls_cert and --tls_key. SEMRANK_STREAM instead keeps the "
                  "password out of process lists.",
                  kStreamAddressForms));
  command.HideSecrets("stream", WithoutPassword);
  command.Add("kafka_config", &options.kafka_config,
              "For import of kafka:...: file of librdkafka properties, "
              "name=value, one a line.");
  AddBadLinesFlag(command, &options.max_bad_lines);
  command.Add("max_join_bytes", &options.join.max_bytes,
              "Memory that texts, sums and lists may take before the command "
              "ends with an error.",
              {.min = 1});
  command.Add("format", &options.json,
              "Format of what is printed, beside the file of --output.",
              {{"text", false}, {"json", true}});
}

std::vector<std::string> FlagsOfAction(std::string_view action) {
  std::vector<std::string> flags = {"max_bad_lines", "format"};
  for (const FlagUse& use : FlagUses()) {
    if (std::ranges::count(use.actions, action) > 0) {
      flags.emplace_back(use.flag);
    }
  }
  // What import and join write is a file; the others print in the form that
  // --output names.
  flags.emplace_back("output");
  if (action == "import")
    flags.insert(flags.end(), {"tls_ca", "tls_cert", "tls_key"});
  return flags;
}

absl::Status CheckEventsFlags(const CommandLine& command,
                              std::string_view action) {
  for (const FlagUse& use : FlagUses()) {
    const bool is_used =
        std::ranges::find(use.actions, action) != use.actions.end();
    if (is_used || command.Source(use.flag) != FlagSource::kCommandLine) {
      continue;
    }
    return UsageError(
        absl::StrFormat("--%s: is not for semrank events %s, but "
                        "for %s",
                        use.flag, action, absl::StrJoin(use.actions, ", ")));
  }
  return absl::OkStatus();
}

}  // namespace semrank
