// `semrank search`: prints the best documents of the server's catalog for one
// query, or writes a TREC run for a file of queries. The run serves to compare
// a live server with models that were evaluated offline.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "client/commands/command.h"
#include "client/lib/catalog_client.h"
#include "client/lib/client_status.h"
#include "client/output/ranking_output.h"
#include "model/base/file_io.h"
#include "model/base/interrupt.h"
#include "model/base/status_macros.h"
#include "model/cli/exit_code.h"
#include "model/cli/output_paths.h"
#include "model/cli/progress.h"
#include "model/data/document_formats.h"
#include "model/text/utf8.h"

namespace semrank {
namespace {

constexpr ProgramInfo kSearchInfo = {
    .name = "search",
    .summary = "finds the best documents of the catalog",
    .usage = R"(Usage:
  semrank search --query=TEXT [flags]
  semrank search --queries=FILE --run_out=FILE [flags]

Finds the best documents in the server's whole catalog (see semrank put) and prints
rank, score, id and title, best first. With --queries, searches for each of them and
writes a TREC run, which semrank-eval --ranker=run:FILE and trec_eval measure.

Examples:
  semrank search --query="edit photos"
  semrank search --query="edit photos" --top_k=3 --output=json
  semrank search --query="edit photos" --exclude_tags=dev,doc --top_k=10 --offset=10
  semrank search --queries=queries.tsv --run_out=live.run --top_k=100
)"};

struct SearchOptions {
  std::string query;
  TextOptions queries;
  std::string run_out;
  RankingOptions ranking;
  std::uint32_t offset = 0;
  std::string include_tags;
  std::string exclude_tags;
  bool name_match = true;
  ModelOptions model;
  bool timings = false;
};

// Tags are two flags, as lists of names: a filter is either of them or both.
v1::SearchDocumentsRequest MakeSearchRequest(const SearchOptions& options,
                                             const std::string& query) {
  v1::SearchDocumentsRequest request;
  request.set_query(query);
  options.ranking.SetFields(request);
  request.set_offset(options.offset);
  request.set_name_match(options.name_match);
  // Only a tag creates the filter: without one, mutable_filter is not called.
  for (std::string& tag : SplitTags(options.include_tags)) {
    *request.mutable_filter()->add_include_tags() = std::move(tag);
  }
  for (std::string& tag : SplitTags(options.exclude_tags)) {
    *request.mutable_filter()->add_exclude_tags() = std::move(tag);
  }
  *request.mutable_model() = options.model.ToRef();
  // A TREC run has neither titles nor payloads.
  request.set_with_titles(options.run_out.empty());
  request.set_with_payloads(options.run_out.empty());
  return request;
}

// Without hits the reason is more useful than an empty table.
absl::Status PrintHits(const SearchOptions& options, OutputFormat format,
                       const v1::SearchDocumentsResponse& response) {
  if (format == OutputFormat::kJson) {
    return WriteJson(SearchJson(options.query, response));
  }
  // On standard error: a program that reads the rows expects none.
  if (response.hits().empty()) {
    const std::string searched =
        CountText(static_cast<std::int64_t>(response.num_documents_searched()),
                  "document");
    const std::string reason =
        options.ranking.min_score && options.offset == 0
            ? absl::StrFormat("; no title scores at least %g",
                              *options.ranking.min_score)
            : "";
    absl::FPrintF(stderr, "no hits: %s\n",
                  response.num_documents_searched() > 0
                      ? absl::StrFormat("%s searched%s", searched, reason)
                      : "the catalog is empty, or has no document with these "
                        "tags (semrank put --documents=FILE fills it)");
  }
  // If the query is unknown and all scores are 0, the order means nothing, so a
  // table is not printed.
  const bool unrelated = PrintIfUnknown(response, options.ranking.parts);
  // Programs get the rows that the server sent.
  if (unrelated && format == OutputFormat::kTable) return absl::OkStatus();
  return WriteTable(SearchTable(response, options.ranking.ForTable(format)),
                    format);
}

// The columns of a run are separated by blanks, and its rows are lines.
bool HasBlank(std::string_view id) {
  return id.find_first_of(" \t\r\n") != id.npos;
}

// The lines of one query in a TREC run. There the scores decide: trec_eval
// ignores the ranks. So documents that the query names, and that stand first
// whatever they score, get higher scores than those below them, by the least
// that a float can differ.
absl::StatusOr<std::string> RunLines(
    const std::string& query_id,
    const google::protobuf::RepeatedPtrField<v1::DocumentHit>& hits,
    const std::string& model) {
  std::vector<float> scores(hits.size());
  float next = -std::numeric_limits<float>::infinity();
  // From the last hit up, so each named one can be put above all below it.
  for (int i = hits.size() - 1; i >= 0; --i) {
    const bool named = hits[i].name_match() != v1::NAME_MATCH_UNSPECIFIED;
    scores[i] = named && hits[i].score() <= next
                    ? std::nextafter(next, std::numeric_limits<float>::max())
                    : hits[i].score();
    // The maximum so far: a document that is not named may score more than the
    // named ones above it, which must then exceed it.
    next = std::max(next, scores[i]);
  }
  std::string lines;
  for (int i = 0; i < hits.size(); ++i) {
    const std::string id = KeyText(hits[i]);
    if (HasBlank(id)) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "document '%s': a TREC run cannot hold an id with blanks",
          EscapeControls(id)));
    }
    // Nine digits distinguish any two floats.
    absl::StrAppendFormat(&lines, "%s Q0 %s %d %.9g %s\n", query_id, id, i + 1,
                          scores[i], model);
  }
  return lines;
}

// The ids are checked before the first search, so that no work is lost to the
// last line.
absl::StatusOr<TextList> ReadQueries(const SearchOptions& options) {
  SEMRANK_ASSIGN_OR_RETURN(TextList queries,
                           ReadTextsOrArguments("queries", options.queries,
                                                /*with_empty_lines=*/false));
  // Measures join the run and the judgments by the id of the query.
  for (std::size_t i = 0; i < queries.texts.size(); ++i) {
    const std::string_view id = queries.id(i);
    if (!id.empty() && !HasBlank(id)) continue;
    return FlagError("queries", options.queries.path,
                     absl::StrFormat("query \"%s\" has no id, or one with "
                                     "blanks: want \"query_id<TAB>query\"",
                                     EscapeControls(queries.texts[i])));
  }
  return queries;
}

// One search after another: a run measures quality, and must not take a live
// server from its users.
absl::Status SearchToRun(const SearchOptions& options,
                         const CommonOptions& common) {
  SEMRANK_RETURN_IF_ERROR(CheckKeepsInputs(
      {"run_out", options.run_out}, {{"queries", options.queries.path}}));
  SEMRANK_ASSIGN_OR_RETURN(const TextList queries, ReadQueries(options));
  ClientOptions to_server = common.client;
  to_server.interrupted = Interrupted;
  SEMRANK_ASSIGN_OR_RETURN(const auto client, CatalogClient::Create(to_server));
  // The file appears when it is complete; an interrupted run leaves none. An
  // evaluation of a part of the queries would look like one of all.
  CatchInterrupts();
  SEMRANK_ASSIGN_OR_RETURN(FileReplacement run,
                           FileReplacement::Create(options.run_out));
  const auto num_queries = static_cast<std::int64_t>(queries.texts.size());
  ProgressBar bar("search", num_queries, "queries");
  std::int64_t num_documents = 0;
  for (std::int64_t i = 0; i < num_queries; ++i) {
    const auto response =
        client->Search(MakeSearchRequest(options, queries.texts[i]));
    if (Interrupted()) return absl::CancelledError("interrupted");
    if (!response.ok()) {
      return WithHint(WithNote(response.status(), "query " + queries.ids[i]));
    }
    SEMRANK_ASSIGN_OR_RETURN(
        const std::string lines,
        RunLines(queries.ids[i], response->hits(), response->model().name()));
    SEMRANK_RETURN_IF_ERROR(run.Write(lines));
    num_documents += response->hits_size();
    bar.Update(i + 1);
  }
  SEMRANK_RETURN_IF_ERROR(run.Commit());
  if (common.ResultFormat() == OutputFormat::kJson) {
    return WriteJson({{"queries", num_queries},
                      {"documents", num_documents},
                      {"skipped_lines", queries.num_skipped_lines}});
  }
  return WriteStdout(
      absl::StrFormat("%s, %s%s\n", CountText(num_queries, "query", "queries"),
                      CountText(num_documents, "document"),
                      DescribeSkipped(queries.num_skipped_lines)));
}

absl::Status RunSearch(const SearchOptions& options,
                       const CommonOptions& common) {
  // The two forms exclude each other, and each needs all of its flags.
  if (options.queries.path.empty() != options.run_out.empty() ||
      (!options.query.empty() && !options.run_out.empty())) {
    return UsageError(
        "give --query=TEXT, or --queries=FILE and --run_out=FILE");
  }
  if (!options.run_out.empty()) return SearchToRun(options, common);
  SEMRANK_RETURN_IF_ERROR(CheckQuery(options.query));
  SEMRANK_ASSIGN_OR_RETURN(const auto client,
                           CatalogClient::Create(common.client));
  // The round trip includes connecting, since the first call does that.
  const absl::Time start = absl::Now();
  const auto response =
      client->Search(MakeSearchRequest(options, options.query));
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
  AddTextFlags(command, "queries",
               "File of queries, \"query_id<TAB>query\" per line; plain, .gz "
               "or .zst; - = standard input. Needs --run_out.",
               options->queries);
  command.Add("run_out", &options->run_out,
              "File for the results of --queries, a TREC run, written at the "
              "end.",
              "FILE");
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
