#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_format.h"
#include "client/bulk/document_reader.h"
#include "client/bulk/put_file.h"
#include "client/commands/command.h"
#include "client/lib/catalog_client.h"
#include "model/base/status_macros.h"
#include "model/cli/exit_code.h"

namespace semrank {
namespace {

constexpr ProgramInfo kPutInfo = {.name = "put",
                                  .summary = "puts documents into the catalog",
                                  .usage = R"(Usage:
  semrank put --documents=FILE|- [flags]

Puts documents into the server's catalog, where semrank search finds them and requests
name them by id. A document replaces the one with the same id, so an interrupted run can
be repeated. With --state=FILE, the same command continues it. Documents that the server
refuses are reported on standard error; then the exit code is 1.

The format follows the extension, or --format:
  tsv    "doc_id<TAB>title"; with --with_tags "doc_id<TAB>title<TAB>tag,tag"
  csv    its first line names the columns: id, title, and if wanted tags and payload
  jsonl  {"document_id": "gimp", "title": "...", "tags": ["graphics"], "payload": "base64"}
         or "id": 7 for a number, as semrank get --output=json prints them

Examples:
  semrank put --documents=docs.tsv.gz --state=docs.state
  semrank put --documents=docs.csv --numeric_ids
  semrank put --documents=tagged.tsv --with_tags
  mysql -BNe "select id, title from shop" | semrank put --documents=- --numeric_ids
)"};

constexpr Named<std::optional<DocumentFormat>> kFormats[] = {
    {"auto", std::nullopt},
    {"tsv", DocumentFormat::kTsv},
    {"csv", DocumentFormat::kCsv},
    {"jsonl", DocumentFormat::kJsonl}};

struct PutOptions {
  TextOptions documents;
  std::optional<DocumentFormat> format;
  bool numeric_ids = false;
  bool with_tags = false;
  std::int64_t skip_lines = 0;
  std::string state;
  Shard shard;
};

absl::StatusOr<PutFileOptions> FileOptions(const PutOptions& options,
                                           const std::string& address) {
  const std::string& path = options.documents.path;
  if (path.empty()) {
    return UsageError("--documents=FILE is required (- is standard input)");
  }
  const DocumentFormat format = options.format.value_or(DocumentFormatOf(path));
  if (options.with_tags && format != DocumentFormat::kTsv) {
    return UsageError("--with_tags is for tsv; csv and jsonl name their tags");
  }
  if (options.numeric_ids && format == DocumentFormat::kJsonl) {
    return UsageError(
        "--numeric_ids is for tsv and csv; jsonl has id or document_id");
  }
  if (!options.state.empty() && !IsRereadable(path)) {
    return FlagError("state", options.state,
                     "standard input and pipes cannot be continued");
  }
  if (!options.state.empty() && options.skip_lines > 0) {
    return UsageError("--state and --skip_lines: give one of them");
  }
  return PutFileOptions{
      .documents = path,
      .reader = {.format = format,
                 .numeric_ids = options.numeric_ids,
                 .with_tags = options.with_tags,
                 .max_bad_lines = options.documents.max_bad_lines,
                 .num_lines_before = options.skip_lines,
                 .shard = options.shard},
      .state = options.state,
      .address = address};
}

absl::Status PrintCounts(OutputFormat format, const PutCounts& counts) {
  if (format == OutputFormat::kJson) {
    return WriteStdout(ToJsonLine({{"created", counts.num_created},
                                   {"replaced", counts.num_replaced},
                                   {"refused", counts.num_refused}}));
  }
  return WriteStdout(absl::StrFormat(
      "%d new, %d replaced, %d refused, of %d documents\n", counts.num_created,
      counts.num_replaced, counts.num_refused, counts.num_documents()));
}

absl::Status RunPut(const PutOptions& options, const CommonOptions& common) {
  SEMRANK_ASSIGN_OR_RETURN(const PutFileOptions file,
                           FileOptions(options, common.client.address));
  SEMRANK_ASSIGN_OR_RETURN(const auto client,
                           CatalogClient::Create(common.client));
  PutCounts counts;
  // The counts are printed in any case: they say what is in the catalog.
  const absl::Status status = PutFile(*client, file, counts);
  SEMRANK_RETURN_IF_ERROR(PrintCounts(common.ResultFormat(), counts));
  if (!status.ok() && counts.last_line > 0 && options.state.empty()) {
    absl::FPrintF(stderr,
                  "all documents up to line %d are put: continue with "
                  "--skip_lines=%d\n",
                  counts.last_line, counts.last_line);
  }
  SEMRANK_RETURN_IF_ERROR(status);
  // An empty file is fine, but a file of bad lines is probably not UTF-8.
  if (counts.num_documents() == 0 && counts.num_bad_lines > 0) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "--documents=%s: no document was put, %d bad lines were skipped",
        options.documents.path, counts.num_bad_lines));
  }
  if (counts.num_refused == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("the server refused %d of %d documents; the others are "
                      "put",
                      counts.num_refused, counts.num_documents()));
}

}  // namespace

Command AddPutCommand(CommandLine& program, const CommonOptions& common) {
  const auto options = std::make_shared<PutOptions>();
  CommandLine& command = program.AddCommand(kPutInfo);
  command.Group("Documents");
  AddTextFlags(command, "documents",
               "File of documents, one per line, as --format says; plain, .gz "
               "or .zst; - = standard input. Empty lines are ignored.",
               options->documents);
  command.Add("format", &options->format,
              "Format of the file; auto = by the extension of its name, else "
              "tsv.",
              kFormats);
  command.Add("state", &options->state,
              "File that keeps how far an interrupted run came, so that the "
              "same command continues it; removed at the end. Empty = none.");
  command.Add("numeric_ids", &options->numeric_ids,
              "The ids are numbers from 0 to 2^64 - 1, which need less memory "
              "than names. The number 7 and the name \"7\" are different ids.");
  command.Add(
      "with_tags", &options->with_tags,
      "A third column of a tsv file holds the document's tags, separated "
      "by commas. It is what follows the line's last tab; a line "
      "without one has no tags. semrank search filters by tags.");
  command.Add("skip_lines", &options->skip_lines,
              "Lines at the beginning to leave out, because an earlier run has "
              "put them; an interrupted run prints how many.",
              {.min = 0});
  AddShardFlag(command, options->shard);
  return {kPutInfo.name,
          [options, &common] { return RunPut(*options, common); }};
}

}  // namespace semrank
