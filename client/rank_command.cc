#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/flags/declare.h"
#include "absl/flags/flag.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "client/advice.h"
#include "client/command.h"
#include "client/connection_flags.h"
#include "client/model_flags.h"
#include "client/output.h"
#include "client/query_flag.h"
#include "client/ranking_output.h"
#include "client/result_flags.h"
#include "client/text_flags.h"
#include "client/timings.h"
#include "model/base/program.h"
#include "model/base/status_macros.h"

ABSL_DECLARE_FLAG(std::string, titles);
ABSL_FLAG(std::uint32_t, top_k, 0, "How many of the best to print. 0 = all.");
ABSL_FLAG(std::optional<double>, min_score, std::nullopt,
          "Leave out titles that score less. None = keep all.");
ABSL_FLAG(bool, with_scores, true, "Print the score column of table and tsv.");

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

absl::Status CheckFlags() {
  const std::optional<double> min_score = absl::GetFlag(FLAGS_min_score);
  if (min_score.has_value() && std::isnan(*min_score)) {
    return FlagError("min_score", "nan", "want a number");
  }
  return absl::OkStatus();
}

v1::RankRequest MakeRequest(const std::string& query,
                            const TextList& candidates) {
  v1::RankRequest request;
  request.set_query(query);
  request.mutable_titles()->Assign(candidates.texts.begin(),
                                   candidates.texts.end());
  request.set_top_k(absl::GetFlag(FLAGS_top_k));
  const std::optional<double> min_score = absl::GetFlag(FLAGS_min_score);
  if (min_score.has_value()) {
    request.set_min_score(static_cast<float>(*min_score));
  }
  *request.mutable_model() = ModelFromFlags();
  return request;
}

absl::Status Print(const std::string& query, const TextList& candidates,
                   const v1::RankResponse& response) {
  const OutputFormat format = FormatFromFlags();
  if (format == OutputFormat::kJson) {
    return WriteStdout(ToJsonLine(RankingJson(query, candidates, response)));
  }
  const RankingTableOptions options{
      .with_scores = absl::GetFlag(FLAGS_with_scores),
      .rounded = format == OutputFormat::kTable};
  return WriteTable(RankingTable(candidates, response, options), format);
}

absl::Status Run(const std::vector<std::string>& arguments) {
  SEMRANK_ASSIGN_OR_RETURN(const std::string query, QueryFromFlag());
  SEMRANK_RETURN_IF_ERROR(CheckFlags());
  SEMRANK_ASSIGN_OR_RETURN(const std::unique_ptr<SemrankClient> client,
                           ClientFromFlags());
  SEMRANK_ASSIGN_OR_RETURN(const TextList candidates,
                           TextsFromFlags({.flag = "titles",
                                           .path = absl::GetFlag(FLAGS_titles),
                                           .arguments = arguments,
                                           .skip_empty_lines = true}));
  const absl::Time start = absl::Now();
  const auto response = client->Rank(MakeRequest(query, candidates));
  if (!response.ok()) return WithAdvice(response.status());
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
        "client/rank_command client/query_flag client/titles_flag "
        "client/text_flags "
        "client/model_flags "
        "client/result_flags client/timings client/connection_flags",
    .takes_arguments = true,
    .run = Run,
};

}  // namespace semrank
