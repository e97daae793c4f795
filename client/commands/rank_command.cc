// `semrank rank`: orders titles of a file or of the command line for a query.
//
// One request has all titles; the client splits it if the server's limits
// demand that. The response has indices and scores, best first.
#include <cstdio>
#include <memory>
#include <string>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "client/commands/command.h"
#include "client/lib/semrank_client.h"
#include "client/output/ranking_output.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

constexpr ProgramInfo kRankInfo = {
    .name = "rank", .summary = "orders titles for a query", .usage = R"(Usage:
  semrank rank --query=TEXT --titles=FILE|- [flags]
  semrank rank --query=TEXT [flags] TITLE...

Prints rank, score, id (if the titles have ids) and title, best first. Titles that
cannot be ranked are reported on standard error.

Examples:
  semrank rank --query="edit photos" "image editor" "mail reader"
  semrank rank --query="edit photos" --titles=docs.tsv.gz --top_k=10
  apt-cache search image | semrank rank --query="edit photos" --titles=- --output=json
)"};

struct RankOptions {
  std::string query;
  TextOptions titles;
  RankingOptions ranking;
  bool name_match = false;
  ModelOptions model;
  bool timings = false;
};

// Titles are not asked for: the caller has them, and they would be most of the
// response.
v1::RankRequest MakeRankRequest(const RankOptions& options,
                                const TextList& titles) {
  v1::RankRequest request;
  request.set_query(options.query);
  request.mutable_titles()->Assign(titles.texts.begin(), titles.texts.end());
  options.ranking.SetFields(request);
  request.set_name_match(options.name_match);
  *request.mutable_model() = options.model.ToRef();
  return request;
}

// Indices of the response become the titles and ids of the file again.
absl::Status PrintRanking(const RankOptions& options, OutputFormat format,
                          const TextList& titles,
                          const v1::RankResponse& response) {
  if (format == OutputFormat::kJson) {
    return WriteJson(RankingJson(options.query, titles, response));
  }
  PrintIfUnknown(response, options.ranking.parts);
  // An empty table would not say whether anything was ranked.
  if (response.indices().empty() && options.ranking.min_score) {
    absl::FPrintF(stderr, "no title scores at least %g\n",
                  *options.ranking.min_score);
  }
  return WriteTable(
      RankingTable(titles, response, options.ranking.ForTable(format)), format);
}

absl::Status RunRank(const RankOptions& options, const CommonOptions& common) {
  SEMRANK_RETURN_IF_ERROR(CheckQuery(options.query));
  SEMRANK_ASSIGN_OR_RETURN(const auto client,
                           SemrankClient::Create(common.client));
  // After the client, so that a bad address is reported before titles are read
  // from a terminal.
  SEMRANK_ASSIGN_OR_RETURN(const TextList titles,
                           ReadTextsOrArguments("titles", options.titles,
                                                /*with_empty_lines=*/false));
  // Reading the titles is not part of the round trip.
  const absl::Time start = absl::Now();
  const auto response = client->Rank(MakeRankRequest(options, titles));
  if (!response.ok()) return WithHint(response.status());
  const absl::Duration round_trip = absl::Now() - start;

  SEMRANK_RETURN_IF_ERROR(
      PrintRanking(options, common.ResultFormat(), titles, *response));
  // The ranking is complete without them, so they do not change the exit code.
  PrintProblems(titles, *response);
  if (options.timings) {
    PrintTimings({.round_trip = round_trip,
                  .server = response->timings(),
                  .model = response->model(),
                  .cache_hits = response->cache_hits(),
                  .cache_misses = response->cache_misses(),
                  .store_hits = response->store_hits()});
  }
  return absl::OkStatus();
}

}  // namespace

Command AddRankCommand(CommandLine& program, const CommonOptions& common) {
  const auto options = std::make_shared<RankOptions>();
  CommandLine& command = program.AddCommand(kRankInfo);
  command.Group("Ranking");
  AddQueryFlag(command, &options->query);
  AddTitlesFlag(command, options->titles);
  command.AddArguments(&options->titles.arguments);
  AddRankingFlags(command, options->ranking);
  command.Add("name_match", &options->name_match,
              "Put titles first that are the query or begin with it, whatever "
              "they score.");
  AddTimingsFlag(command, &options->timings);
  AddModelFlags(command, options->model);
  return {kRankInfo.name,
          [options, &common] { return RunRank(*options, common); }};
}

}  // namespace semrank
