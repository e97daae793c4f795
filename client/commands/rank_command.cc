#include <memory>
#include <string>

#include "absl/flags/declare.h"
#include "absl/flags/flag.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "client/commands/command.h"
#include "client/commands/connection_flags.h"
#include "client/commands/model_flags.h"
#include "client/commands/query_flag.h"
#include "client/commands/ranking_flags.h"
#include "client/commands/result_flags.h"
#include "client/commands/text_flags.h"
#include "client/output/call_report.h"
#include "client/output/output.h"
#include "client/output/ranking_output.h"
#include "model/base/status_macros.h"
#include "model/cli/program.h"

ABSL_DECLARE_FLAG(std::string, titles);

namespace semrank {
namespace {

constexpr std::string_view kUsage =
    "Usage:\n"
    "  semrank rank --query=TEXT --titles=FILE|- [flags]\n"
    "  semrank rank --query=TEXT [flags] TITLE...\n"
    "\n"
    "Prints rank, score, id (if the titles have ids) and title, best first.\n"
    "Titles that cannot be ranked are named on standard error.\n"
    "\n"
    "Examples:\n"
    "  semrank rank --query=\"edit photos\" \"image editor\" \"mail reader\"\n"
    "  semrank rank --query=\"edit photos\" --titles=docs.tsv.gz --top_k=10\n"
    "  apt-cache search image | semrank rank --query=\"edit photos\" "
    "--titles=- --output=json\n";

v1::RankRequest MakeRequest(const std::string& query,
                            const TextList& candidates,
                            const RankingFlags& flags) {
  v1::RankRequest request;
  request.set_query(query);
  request.mutable_titles()->Assign(candidates.texts.begin(),
                                   candidates.texts.end());
  request.set_top_k(flags.top_k);
  if (flags.min_score.has_value()) request.set_min_score(*flags.min_score);
  *request.mutable_model() = ModelFromFlags();
  return request;
}

absl::Status Print(const std::string& query, const TextList& candidates,
                   const v1::RankResponse& response) {
  const OutputFormat format = FormatFromFlags();
  if (format == OutputFormat::kJson) {
    return WriteStdout(ToJsonLine(RankingJson(query, candidates, response)));
  }
  return WriteTable(
      RankingTable(candidates, response, TableOptionsFromFlags(format)),
      format);
}

absl::Status Run(const std::vector<std::string>& arguments) {
  SEMRANK_ASSIGN_OR_RETURN(const std::string query, QueryFromFlag());
  SEMRANK_ASSIGN_OR_RETURN(const RankingFlags flags, RankingFromFlags());
  SEMRANK_ASSIGN_OR_RETURN(const std::unique_ptr<SemrankClient> client,
                           ClientFromFlags());
  SEMRANK_ASSIGN_OR_RETURN(const TextList candidates,
                           TextsFromFlags({.flag = "titles",
                                           .path = absl::GetFlag(FLAGS_titles),
                                           .arguments = arguments,
                                           .skip_empty_lines = true}));
  const absl::Time start = absl::Now();
  const auto response = client->Rank(MakeRequest(query, candidates, flags));
  if (!response.ok()) return WithHint(response.status());
  const absl::Duration round_trip = absl::Now() - start;

  SEMRANK_RETURN_IF_ERROR(Print(query, candidates, *response));
  absl::FPrintF(stderr, "%s", DescribeProblems(candidates, *response));
  PrintTimingsIfWanted({.round_trip = round_trip,
                        .server = response->timings(),
                        .model = response->model(),
                        .cache_hits = response->cache_hits(),
                        .cache_misses = response->cache_misses(),
                        .store_hits = response->store_hits()});
  return absl::OkStatus();
}

}  // namespace

const Command kRankCommand = {
    .name = "rank",
    .summary = "orders titles for a query",
    .usage = kUsage,
    .flag_sources =
        "client/commands/rank_command client/commands/query_flag "
        "client/commands/titles_flag "
        "client/commands/ranking_flags "
        "client/commands/text_flags "
        "client/commands/model_flags "
        "client/commands/result_flags "
        "client/commands/connection_flags",
    .takes_arguments = true,
    .run = Run,
};

}  // namespace semrank
