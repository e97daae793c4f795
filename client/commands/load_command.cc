#include <cstdio>
#include <string>
#include <utility>

#include "absl/flags/declare.h"
#include "absl/flags/flag.h"
#include "absl/strings/str_format.h"
#include "client/commands/command.h"
#include "client/commands/connection_flags.h"
#include "client/commands/result_flags.h"
#include "client/commands/text_flags.h"
#include "client/load/load.h"
#include "client/load/load_report.h"
#include "client/output/call_report.h"
#include "client/output/output.h"
#include "model/base/status_macros.h"
#include "model/cli/interrupt.h"
#include "model/cli/program.h"

ABSL_FLAG(double, rate, 0,
          "Calls a second, sent when they are due whatever the server does; a "
          "latency begins when the call was due.");
ABSL_FLAG(int, inflight, 0,
          "Calls in flight, each sent when another is answered. With --rate "
          "the most that may be unanswered; then 0 = 10,000.");
ABSL_FLAG(absl::Duration, duration, absl::Seconds(10), "How long to measure.");
ABSL_FLAG(absl::Duration, warmup, absl::Seconds(1),
          "How long to send the same load before, unmeasured.");
ABSL_FLAG(int, connections, 1, "Connections, used in turn.");
ABSL_FLAG(bool, stream, false,
          "Send the calls of a connection as requests of one RankStream, which "
          "takes less work a call.");
ABSL_FLAG(int, num_titles, 100,
          "Titles in a call, taken from --titles in turn, or made up.");
ABSL_FLAG(bool, new_titles, false,
          "Give every title a word that it never had, so that none is cached.");
ABSL_DECLARE_FLAG(std::string, query);
ABSL_DECLARE_FLAG(std::string, titles);

namespace semrank {
namespace {

constexpr std::string_view kUsage =
    "Usage:\n"
    "  semrank load --rate=R|--inflight=N [flags]\n"
    "\n"
    "Sends Rank calls, or with --stream requests of RankStream, and prints "
    "how many\n"
    "were answered, their latencies (mean, p50, p90, p99, p99.9, max), calls "
    "sent\n"
    "more than 1 ms late or never, and failures by code. No call is repeated. "
    "With\n"
    "--rate the load does not wait for the server, as users do not; "
    "--inflight finds\n"
    "out what the server can take. Ctrl-C ends it early and prints what was "
    "measured.\n"
    "\n"
    "Examples:\n"
    "  semrank load --rate=500 --duration=30s --titles=docs.tsv\n"
    "  semrank load --inflight=32 --connections=4 --output=json\n"
    "  semrank load --inflight=32 --stream   # one stream a connection\n"
    "  semrank load --inflight=8 --new_titles   # every title is embedded\n";

constexpr int kMaxUnanswered = 10'000;

absl::Status CheckPositive(std::string_view flag, int value) {
  if (value >= 1) return absl::OkStatus();
  return FlagError(flag, std::to_string(value), "must be at least 1");
}

absl::StatusOr<LoadOptions> LoadFromFlags() {
  LoadOptions options{.rate = absl::GetFlag(FLAGS_rate),
                      .inflight = absl::GetFlag(FLAGS_inflight),
                      .duration = absl::GetFlag(FLAGS_duration),
                      .warmup = absl::GetFlag(FLAGS_warmup),
                      .connections = absl::GetFlag(FLAGS_connections),
                      .stream = absl::GetFlag(FLAGS_stream),
                      .show_progress = true};
  if (!(options.rate >= 0 && options.rate <= 1e6)) {
    return FlagError("rate", absl::StrFormat("%g", options.rate),
                     "want 0 to 1,000,000");
  }
  if (options.rate == 0 && options.inflight == 0) {
    return UsageError("how much load? give --rate or --inflight");
  }
  if (options.inflight == 0) options.inflight = kMaxUnanswered;
  SEMRANK_RETURN_IF_ERROR(CheckPositive("inflight", options.inflight));
  SEMRANK_RETURN_IF_ERROR(CheckPositive("connections", options.connections));
  if (options.duration <= absl::ZeroDuration() ||
      options.duration > absl::Hours(24 * 365)) {
    return FlagError("duration", absl::FormatDuration(options.duration),
                     "want more than 0 and at most a year");
  }
  if (options.warmup < absl::ZeroDuration() ||
      options.warmup > absl::Hours(24)) {
    return FlagError("warmup", absl::FormatDuration(options.warmup),
                     "want 0 to 24h");
  }
  return options;
}

absl::StatusOr<LoadRequestOptions> RequestsFromFlags() {
  LoadRequestOptions options{.num_titles = absl::GetFlag(FLAGS_num_titles),
                             .new_titles = absl::GetFlag(FLAGS_new_titles)};
  SEMRANK_RETURN_IF_ERROR(CheckPositive("num_titles", options.num_titles));
  if (const std::string query = absl::GetFlag(FLAGS_query); !query.empty()) {
    options.query = query;
  }
  if (const std::string path = absl::GetFlag(FLAGS_titles); !path.empty()) {
    SEMRANK_ASSIGN_OR_RETURN(TextList titles,
                             TextsFromFlags({.flag = "titles",
                                             .path = path,
                                             .arguments = {},
                                             .skip_empty_lines = true}));
    options.titles = std::move(titles.texts);
  }
  return options;
}

absl::Status Run(const std::vector<std::string>&) {
  SEMRANK_ASSIGN_OR_RETURN(const LoadOptions options, LoadFromFlags());
  SEMRANK_ASSIGN_OR_RETURN(const ClientOptions client, OptionsFromFlags());
  SEMRANK_ASSIGN_OR_RETURN(LoadRequestOptions request_options,
                           RequestsFromFlags());
  LoadRequests requests(std::move(request_options));
  CatchInterrupts();
  SEMRANK_ASSIGN_OR_RETURN(const LoadReport report,
                           RunLoad(client, options, requests));
  if (FormatFromFlags() == OutputFormat::kJson) {
    SEMRANK_RETURN_IF_ERROR(WriteStdout(ToJsonLine(LoadJson(report))));
  } else {
    SEMRANK_RETURN_IF_ERROR(WriteTable(LoadTable(report), FormatFromFlags()));
  }
  if (report.first_failure.ok()) return absl::OkStatus();
  if (report.latencies.count() == 0) return WithHint(report.first_failure);
  absl::FPrintF(stderr, "first failure: %s\n",
                WithHint(report.first_failure).message());
  return absl::OkStatus();
}

}  // namespace

const Command kLoadCommand = {
    .name = "load",
    .summary = "measures latencies under load",
    .usage = kUsage,
    .flag_sources =
        "client/commands/load_command client/commands/query_flag "
        "client/commands/titles_flag "
        "client/commands/text_flags client/commands/result_flags "
        "client/commands/connection_flags",
    .takes_arguments = false,
    .run = Run,
};

}  // namespace semrank
