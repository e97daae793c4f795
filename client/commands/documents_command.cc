// `semrank get` and `semrank delete`: documents of the catalog by key.
//
// A document has a name or a number as its key. The name "7" and the number 7
// are two documents: the flag --numeric_ids says which of them is meant. The
// client splits any number of keys into messages.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/commands/command.h"
#include "client/lib/catalog_client.h"
#include "client/output/call_report.h"
#include "model/base/count_text.h"
#include "model/base/status_macros.h"
#include "model/cli/exit_code.h"

namespace semrank {
namespace {

constexpr ProgramInfo kGetInfo = {.name = "get",
                                  .summary = "prints documents of the catalog",
                                  .usage = R"(Usage:
  semrank get [flags] DOC_ID...
  semrank get --ids=FILE|- [flags]

Prints a line per document, in the order of the ids: id, title and tags, or with
--output=json all it has, as semrank put reads it from a .jsonl file. Ids without a
document are reported on standard error; then the exit code is 1.

Examples:
  semrank get gimp vlc
  semrank get --numeric_ids 7 9
  semrank get --ids=ids.txt --output=json >docs.jsonl
)"};

constexpr ProgramInfo kDeleteInfo = {
    .name = "delete",
    .summary = "deletes documents of the catalog",
    .usage = R"(Usage:
  semrank delete [flags] DOC_ID...
  semrank delete --ids=FILE|- [flags]

Deletes documents from the server's catalog and prints how many there were. Ids without a
document are not errors, so an interrupted run can be repeated.

Examples:
  semrank delete gimp vlc
  cut -f1 old.tsv | semrank delete --ids=-
)"};

// Both commands have the same flags.
struct KeyOptions {
  TextOptions ids;
  bool numeric_ids = false;
};

void AddKeyFlags(CommandLine& command, KeyOptions& options) {
  command.Group("Documents");
  // A file of ids is not a file of documents, whatever its name.
  options.ids.format = DocumentFormat::kTsv;
  AddTextFlags(command, "ids",
               "File of ids, one per line; plain, .gz or .zst; - = standard "
               "input. Empty lines are ignored.",
               options.ids);
  command.AddArguments(&options.ids.arguments);
  command.Add("numeric_ids", &options.numeric_ids,
              "The ids are numbers, as with semrank put --numeric_ids.");
}

// The file is read to its end before the first call, so that an id that is no
// number deletes nothing.
absl::StatusOr<TextList> ReadIds(const KeyOptions& options) {
  return ReadTextsOrArguments("ids", options.ids, /*with_empty_lines=*/false);
}

// Both requests have the same two lists of keys.
template <typename Request>
absl::StatusOr<Request> MakeRequest(const std::vector<std::string>& ids,
                                    bool numeric_ids) {
  Request request;
  for (const std::string& id : ids) {
    std::uint64_t number = 0;
    if (!numeric_ids) {
      request.add_document_ids(id);
    } else if (absl::SimpleAtoi(id, &number)) {
      request.add_ids(number);
    } else {
      return UsageError(absl::StrFormat(
          "the id \"%s\" is not a number from 0 to 2^64 - 1 (--numeric_ids)",
          id));
    }
  }
  return request;
}

// Keys are numbered through, first `ids`, then `document_ids`.
template <typename Request>
std::string KeyName(const Request& request, std::uint32_t index) {
  const auto i = static_cast<int>(index);
  return i < request.ids_size() ? std::to_string(request.ids(i))
                                : request.document_ids(i - request.ids_size());
}

// JSON has everything, so that `semrank put` can read it again.
absl::Status PrintDocuments(OutputFormat format,
                            const v1::GetDocumentsResponse& response) {
  if (format == OutputFormat::kJson) {
    std::string lines;
    for (const v1::Document& document : response.documents()) {
      SEMRANK_ASSIGN_OR_RETURN(const std::string line,
                               MessageJsonLine(document));
      lines += line;
    }
    return WriteStdout(lines);
  }
  // The table omits payloads, which may be binary.
  Table table({{"id"}, {"title"}, {"tags"}});
  for (const v1::Document& document : response.documents()) {
    table.AddRow({KeyText(document), document.title(),
                  absl::StrJoin(document.tags(), ",")});
  }
  return WriteTable(table, format);
}

absl::Status RunGet(const KeyOptions& options, const CommonOptions& common) {
  SEMRANK_ASSIGN_OR_RETURN(const TextList ids, ReadIds(options));
  SEMRANK_ASSIGN_OR_RETURN(auto request, MakeRequest<v1::GetDocumentsRequest>(
                                             ids.texts, options.numeric_ids));
  // Only JSON prints payloads, which may be large.
  request.set_with_payloads(common.ResultFormat() == OutputFormat::kJson);
  SEMRANK_ASSIGN_OR_RETURN(const auto client,
                           CatalogClient::Create(common.client));
  const auto response = client->Get(request);
  if (!response.ok()) return WithHint(response.status());
  // First what was found, then what was not.
  SEMRANK_RETURN_IF_ERROR(PrintDocuments(common.ResultFormat(), *response));
  ProblemReport problems("not printed");
  for (const v1::Problem& problem : response->problems()) {
    problems.Add(KeyName(request, problem.index()), problem);
  }
  problems.PrintNumberOfOthers("documents");
  if (problems.count() == 0) return absl::OkStatus();
  return absl::NotFoundError(absl::StrFormat(
      "%s of %s could not be printed", GroupDigits(problems.count()),
      CountText(response->documents_size() + problems.count(), "document")));
}

// A key without a document is not an error, since a repeated delete has many.
absl::Status RunDelete(const KeyOptions& options, const CommonOptions& common) {
  SEMRANK_ASSIGN_OR_RETURN(const TextList ids, ReadIds(options));
  SEMRANK_ASSIGN_OR_RETURN(
      const auto request,
      MakeRequest<v1::DeleteDocumentsRequest>(ids.texts, options.numeric_ids));
  SEMRANK_ASSIGN_OR_RETURN(const auto client,
                           CatalogClient::Create(common.client));
  const auto response = client->Delete(request);
  if (!response.ok()) return WithHint(response.status());
  if (common.ResultFormat() == OutputFormat::kJson) {
    return WriteJson({{"deleted", response->num_deleted()},
                      {"not_found", response->problems_size()},
                      {"skipped_lines", ids.num_skipped_lines}});
  }
  return WriteStdout(absl::StrFormat("%s deleted, %s not found%s\n",
                                     GroupDigits(response->num_deleted()),
                                     GroupDigits(response->problems_size()),
                                     DescribeSkipped(ids.num_skipped_lines)));
}

}  // namespace

Command AddGetCommand(CommandLine& program, const CommonOptions& common) {
  const auto options = std::make_shared<KeyOptions>();
  AddKeyFlags(program.AddCommand(kGetInfo), *options);
  return {kGetInfo.name,
          [options, &common] { return RunGet(*options, common); }};
}

Command AddDeleteCommand(CommandLine& program, const CommonOptions& common) {
  const auto options = std::make_shared<KeyOptions>();
  AddKeyFlags(program.AddCommand(kDeleteInfo), *options);
  return {kDeleteInfo.name,
          [options, &common] { return RunDelete(*options, common); }};
}

}  // namespace semrank
