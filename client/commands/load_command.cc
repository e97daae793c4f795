// `semrank load`: the command line of the load generator (load.h). Each call
// ranks the next titles of a file, or generated ones.
#include <cstdio>
#include <memory>
#include <utility>

#include "absl/strings/str_format.h"
#include "client/commands/command.h"
#include "client/load/load.h"
#include "client/load/load_report.h"
#include "model/base/interrupt.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

constexpr ProgramInfo kLoadInfo = {.name = "load",
                                   .summary = "measures latencies under load",
                                   .usage = R"(Usage:
  semrank load --rate=R|--inflight=N [flags]

Sends Rank calls, or with --stream requests of RankStream, and prints how many succeeded,
how many did so within --deadline (goodput), their latencies (mean, p50, p90, p99, p99.9,
max), how many were sent more than 1 ms late or never, how fast the server refused, and
failures by code. No call is retried. With --rate, calls do not wait for earlier ones, like
users; --inflight measures throughput. Ctrl-C or SIGTERM ends the run at once and prints
what was measured.

Examples:
  semrank load --rate=500 --duration=30s --titles=docs.tsv
  semrank load --inflight=32 --connections=4 --output=json
  semrank load --inflight=32 --stream   # one stream per connection
  semrank load --inflight=8 --new_titles   # no vector comes from the cache
)"};

// A process has 1,024 descriptors, unless its limit was raised.
constexpr int kMaxConnections = 1'000;

// --inflight is 0 unless it is given, since its default depends on the size of
// the requests.
struct LoadCommandOptions {
  LoadOptions load = {.inflight = 0, .show_progress = true};
  LoadRequestOptions requests;
  TextOptions titles;
};

// Failures are rows of the report: how a server refuses is what a load test is
// for.
absl::Status PrintReport(OutputFormat format, const LoadReport& report) {
  return format == OutputFormat::kJson ? WriteJson(LoadJson(report))
                                       : WriteTable(LoadTable(report), format);
}

// By value, since the titles move into the requests.
absl::Status RunLoadCommand(LoadCommandOptions options,
                            const CommonOptions& common) {
  if (options.load.rate == 0 && options.load.inflight == 0) {
    return UsageError("--rate or --inflight is required");
  }
  std::int64_t num_skipped_lines = 0;
  if (!options.titles.path.empty()) {
    SEMRANK_ASSIGN_OR_RETURN(TextList titles,
                             ReadTextsOrArguments("titles", options.titles,
                                                  /*with_empty_lines=*/false));
    options.requests.titles = std::move(titles.texts);
    num_skipped_lines = titles.num_skipped_lines;
  }
  // The size of a request decides how many fit into memory.
  LoadRequests requests(std::move(options.requests));
  const int max_inflight = MaxInflight(requests);
  if (options.load.inflight == 0) options.load.inflight = max_inflight;
  // The default is cut silently, but a number that a user gave is not.
  if (options.load.inflight > max_inflight) {
    return UsageError(absl::StrFormat(
        "--inflight=%d: these calls may take more than 1 GiB of memory; the "
        "limit is %d",
        options.load.inflight, max_inflight));
  }
  // From here on Ctrl-C ends the measurement, not the program.
  CatchInterrupts();
  SEMRANK_ASSIGN_OR_RETURN(LoadReport report,
                           RunLoad(common.client, options.load, requests));
  report.num_skipped_lines = num_skipped_lines;
  SEMRANK_RETURN_IF_ERROR(PrintReport(common.ResultFormat(), report));
  if (report.first_failure.ok()) return absl::OkStatus();
  const absl::Status failure = WithHint(report.first_failure);
  // Failures under load are a result; only a run of nothing else has failed.
  if (report.latencies.count() == 0) return failure;
  absl::FPrintF(stderr, "first failure: %s\n", failure.message());
  return absl::OkStatus();
}

}  // namespace

Command AddLoadCommand(CommandLine& program, const CommonOptions& common) {
  const auto options = std::make_shared<LoadCommandOptions>();
  LoadOptions& load = options->load;
  CommandLine& command = program.AddCommand(kLoadInfo);
  command.Group("Load");
  command.Add("rate", &load.rate,
              "Calls per second. 0 = keep --inflight calls in flight.",
              {.min = 0, .max = 1e6});
  command.Add(
      "inflight", &load.inflight,
      absl::StrFormat("Calls in flight: each response sends the next call. "
                      "With --rate, their upper limit, and 0 = as many as fit "
                      "into 1 GiB, at most %d.",
                      kMaxInflight),
      {.min = 0, .max = kMaxInflight});
  command.Add("duration", &load.duration, "How long to measure.",
              {.max = absl::Hours(24 * 365), .above_min = true});
  command.Add("warmup", &load.warmup,
              "How long to send the same load first, without measuring it.",
              {.max = absl::Hours(24)});
  command.Add("connections", &load.connections,
              "Connections; the calls take turns on them.",
              {.min = 1, .max = kMaxConnections});
  command.Add(
      "stream", &load.stream,
      "Send the calls of each connection as requests of one RankStream, "
      "which costs less per call.");
  command.Group("Requests");
  AddUtf8Flag(command, "query", "The query.", &options->requests.query);
  AddTitlesFlag(command, options->titles);
  command.Add("num_titles", &options->requests.num_titles,
              "Titles per call, taken from --titles in turn, or generated.",
              {.min = 1});
  command.Add("new_titles", &options->requests.new_titles,
              "Add a new word to every title, so that no vector comes from a "
              "cache.");
  command.Add("num_ids", &options->requests.num_ids,
              "Rank documents of the catalog instead of titles, by their "
              "numeric ids, 0 to this number - 1 in turn. 0 = titles.",
              {.min = 0});
  return {kLoadInfo.name,
          [options, &common] { return RunLoadCommand(*options, common); }};
}

}  // namespace semrank
