#include <memory>
#include <string>

#include "absl/time/clock.h"
#include "client/commands/command.h"
#include "client/commands/connection_flags.h"
#include "client/commands/model_flags.h"
#include "client/commands/query_flag.h"
#include "client/commands/ranking_flags.h"
#include "client/commands/result_flags.h"
#include "client/lib/catalog_client.h"
#include "client/output/call_report.h"
#include "client/output/output.h"
#include "client/output/ranking_output.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

constexpr std::string_view kUsage =
    "Usage:\n"
    "  semrank search --query=TEXT [flags]\n"
    "\n"
    "Finds the best documents of the server's whole catalog (see semrank put)\n"
    "and prints rank, score, id and title, best first.\n"
    "\n"
    "Examples:\n"
    "  semrank search --query=\"edit photos\"\n"
    "  semrank search --query=\"edit photos\" --top_k=3 --output=json\n";

absl::Status Print(const v1::SearchDocumentsRequest& request,
                   const v1::SearchDocumentsResponse& response) {
  const OutputFormat format = FormatFromFlags();
  if (format == OutputFormat::kJson) {
    return WriteStdout(ToJsonLine(SearchJson(request.query(), response)));
  }
  return WriteTable(SearchTable(response, TableOptionsFromFlags(format)),
                    format);
}

absl::Status Run(const std::vector<std::string>& /*arguments*/) {
  v1::SearchDocumentsRequest request;
  SEMRANK_ASSIGN_OR_RETURN(*request.mutable_query(), QueryFromFlag());
  SEMRANK_ASSIGN_OR_RETURN(const RankingFlags flags, RankingFromFlags());
  request.set_top_k(flags.top_k);
  if (flags.min_score.has_value()) request.set_min_score(*flags.min_score);
  *request.mutable_model() = ModelFromFlags();
  request.set_with_titles(true);
  request.set_with_payloads(true);
  SEMRANK_ASSIGN_OR_RETURN(const ClientOptions options, OptionsFromFlags());
  SEMRANK_ASSIGN_OR_RETURN(const std::unique_ptr<CatalogClient> client,
                           CatalogClient::Create(options));
  const absl::Time start = absl::Now();
  const auto response = client->Search(request);
  if (!response.ok()) return WithHint(response.status());
  const absl::Duration round_trip = absl::Now() - start;
  SEMRANK_RETURN_IF_ERROR(Print(request, *response));
  PrintTimingsIfWanted({.round_trip = round_trip,
                        .server = response->timings(),
                        .model = response->model()});
  return absl::OkStatus();
}

}  // namespace

const Command kSearchCommand = {
    .name = "search",
    .summary = "finds the best documents of the catalog",
    .usage = kUsage,
    .flag_sources =
        "client/commands/query_flag client/commands/ranking_flags "
        "client/commands/model_flags "
        "client/commands/result_flags "
        "client/commands/connection_flags",
    .takes_arguments = false,
    .run = Run,
};

}  // namespace semrank
