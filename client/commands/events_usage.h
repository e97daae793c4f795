// The texts of `semrank events --help` and of its actions.
#ifndef SEMRANK_CLIENT_COMMANDS_EVENTS_USAGE_H_
#define SEMRANK_CLIENT_COMMANDS_EVENTS_USAGE_H_

#include <string_view>

namespace semrank {

inline constexpr std::string_view kEventsUsage = R"(Usage:
  semrank events stats DIR... [flags]
  semrank events join DIR... --output=FILE [flags]
  semrank events compare DIR... [flags]
  semrank events delete --user=ID DIR
  semrank events import --ubi_queries=FILE --ubi_events=FILE --output=DIR
  semrank events import --stream=ADDRESS --output=DIR

Works on the folders of semrank-server --events, also while servers write in them.
Several folders are read as one: a click may be reported to another server than the one
that ranked. Single files may be given, too. 'semrank events ACTION --help' describes an
action and lists its flags.

  stats    counts lists and events by kind, model version and position
  join     makes training data of lists and clicks
  compare  says which of two interleaved models users prefer
  delete   removes the lists that were shown to a user, and the events on them
  import   makes a folder of events of OpenSearch's UBI, or of a stream of Redis or Kafka

Examples:
  semrank events stats /var/lib/semrank/events
  semrank events join events-1/ events-2/ --since=2026-11-01 --output=clicks.tsv
  semrank-train --train=clicks.tsv --model_dir=models/shop
  semrank events compare events/ --format=json
)";

inline constexpr std::string_view kStatsUsage = R"(Usage:
  semrank events stats DIR... [flags]

Counts lists and events by kind, model version and position. DIR are folders of
semrank-server --events, or files of them.
)";
inline constexpr std::string_view kJoinUsage = R"(Usage:
  semrank events join DIR... --output=FILE [flags]

Attaches clicks to the lists that were shown and writes training data,
query<TAB>title<TAB>clicks<TAB>impressions<TAB>position, one line for each query, title and
position. Prints what was dropped, and how likely users look at each position, if enough
titles changed theirs (semrank-server --explore).

Example:
  semrank events join events-1/ events-2/ --since=2026-11-01 --output=clicks.tsv
)";
inline constexpr std::string_view kCompareUsage = R"(Usage:
  semrank events compare DIR... [flags]

Says which of two interleaved models users prefer (semrank-server --interleave, or
interleave in a request): wins, ties and losses by session, sign test, and the share of
sessions of the first model with its interval.
)";
inline constexpr std::string_view kDeleteUsage = R"(Usage:
  semrank events delete --user=ID DIR

Removes the lists that were shown to a user, and the events on them. The server must be
stopped: its file cannot be replaced. It reaches neither Redis nor Kafka.
)";
inline constexpr std::string_view kImportUsage = R"(Usage:
  semrank events import --ubi_queries=FILE --ubi_events=FILE --output=DIR
  semrank events import --stream=ADDRESS --output=DIR

Turns exports of OpenSearch's indices ubi_queries and ubi_events, JSON lines, into a folder
of events; or copies what servers with --events=redis://... or kafka:... have kept since the
last import into the folder, which keeps the position.

Example:
  semrank events import --stream=redis://cache.internal/shop:events --output=events
)";

}  // namespace semrank

#endif  // SEMRANK_CLIENT_COMMANDS_EVENTS_USAGE_H_
