#include <memory>
#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "client/commands/command.h"
#include "client/lib/catalog_client.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

constexpr ProgramInfo kSearchInfo = {
    .name = "search",
    .summary = "finds the best documents of the catalog",
    .usage = R"(Usage:
  semrank search --query=TEXT [flags]

Finds the best documents in the server's whole catalog (see semrank put) and prints
rank, score, id and title, best first.

Examples:
  semrank search --query="edit photos"
  semrank search --query="edit photos" --top_k=3 --output=json
  semrank search --query="edit photos" --exclude_tags=dev,doc --top_k=10 --offset=10
)"};

struct SearchOptions {
  std::string query;
  RankingOptions ranking;
  std::uint32_t offset = 0;
  std::string include_tags;
  std::string exclude_tags;
  bool name_match = true;
  ModelOptions model;
  bool timings = false;
};

v1::SearchDocumentsRequest MakeSearchRequest(const SearchOptions& options) {
  v1::SearchDocumentsRequest request;
  request.set_query(options.query);
  request.set_top_k(options.ranking.top_k);
  if (const auto min_score = options.ranking.min_score) {
    request.set_min_score(static_cast<float>(*min_score));
  }
  request.set_offset(options.offset);
  request.set_name_match(options.name_match);
  for (std::string& tag : SplitTags(options.include_tags)) {
    *request.mutable_filter()->add_include_tags() = std::move(tag);
  }
  for (std::string& tag : SplitTags(options.exclude_tags)) {
    *request.mutable_filter()->add_exclude_tags() = std::move(tag);
  }
  request.set_parts(options.ranking.parts);
  request.set_with_parts(options.ranking.with_parts);
  *request.mutable_model() = options.model.ToRef();
  request.set_with_titles(true);
  request.set_with_payloads(true);
  return request;
}

absl::Status PrintHits(const SearchOptions& options, OutputFormat format,
                       const v1::SearchDocumentsResponse& response) {
  if (format == OutputFormat::kJson) {
    return WriteStdout(ToJsonLine(SearchJson(options.query, response)));
  }
  return WriteTable(SearchTable(response, options.ranking.ForTable(format)),
                    format);
}

absl::Status RunSearch(const SearchOptions& options,
                       const CommonOptions& common) {
  SEMRANK_RETURN_IF_ERROR(CheckQuery(options.query));
  SEMRANK_ASSIGN_OR_RETURN(const auto client,
                           CatalogClient::Create(common.client));
  const absl::Time start = absl::Now();
  const auto response = client->Search(MakeSearchRequest(options));
  if (!response.ok()) return WithHint(response.status());
  const absl::Duration round_trip = absl::Now() - start;

  SEMRANK_RETURN_IF_ERROR(PrintHits(options, common.ResultFormat(), *response));
  if (options.timings) {
    PrintTimings({.round_trip = round_trip,
                  .server = response->timings(),
                  .model = response->model()});
  }
  return absl::OkStatus();
}

}  // namespace

Command AddSearchCommand(CommandLine& program, const CommonOptions& common) {
  const auto options = std::make_shared<SearchOptions>();
  CommandLine& command = program.AddCommand(kSearchInfo);
  command.Group("Ranking");
  AddQueryFlag(command, &options->query);
  AddRankingFlags(command, options->ranking);
  command.Add("offset", &options->offset,
              "Pass over this many of the best: --offset=10 prints the second "
              "page of 10.");
  AddUtf8Flag(command, "include_tags",
              "Only documents with at least one of these tags, separated by "
              "commas.",
              &options->include_tags);
  AddUtf8Flag(command, "exclude_tags",
              "No documents with one of these tags, separated by commas.",
              &options->exclude_tags);
  command.Add("name_match", &options->name_match,
              "Put documents first whose id or title is the query or begins "
              "with it, whatever they score.");
  AddTimingsFlag(command, &options->timings);
  AddModelFlags(command, options->model);
  return {kSearchInfo.name,
          [options, &common] { return RunSearch(*options, common); }};
}

}  // namespace semrank
