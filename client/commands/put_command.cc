// `semrank put`: puts the documents of a file of any size into the catalog.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_format.h"
#include "client/bulk/put_file.h"
#include "client/commands/command.h"
#include "client/lib/catalog_client.h"
#include "model/base/count_text.h"
#include "model/base/interrupt.h"
#include "model/base/status_macros.h"
#include "model/cli/exit_code.h"
#include "model/cli/output_paths.h"
#include "model/data/document_formats.h"
#include "model/data/document_reader.h"

namespace semrank {
namespace {

constexpr ProgramInfo kPutInfo = {.name = "put",
                                  .summary = "puts documents into the catalog",
                                  .usage = R"(Usage:
  semrank put --documents=FILE|- [flags]

Puts documents into the server's catalog, where semrank search finds them and requests
name them by id. A document replaces the one with the same id, so an interrupted run can
be repeated. With --state=FILE, the same command continues it. Documents that the server
refuses are reported on standard error; then the exit code is 1. Lines that cannot be used
are skipped and counted; a quote in a csv file that is never closed ends the command there.

The format follows the extension, or --format:
  tsv    "doc_id<TAB>title"; with --with_tags "doc_id<TAB>title<TAB>tag,tag"
  csv    its first line names the columns: id, title, and if wanted tags and payload
  jsonl  {"document_id": "gimp", "title": "...", "tags": ["graphics"], "payload": "base64"}
         or "id": 7 for a number, as semrank get --output=json prints them; also .json

Examples:
  semrank put --documents=docs.tsv.gz --state=docs.state
  semrank put --documents=docs.csv --numeric_ids
  semrank put --documents=tagged.tsv --with_tags
  mysql -BNe "select id, title from shop" | semrank put --documents=- --numeric_ids
)"};

// std::nullopt: the extension of the file decides.
constexpr Named<std::optional<DocumentFormat>> kFormats[] = {
    {"auto", std::nullopt},
    {"tsv", DocumentFormat::kTsv},
    {"csv", DocumentFormat::kCsv},
    {"jsonl", DocumentFormat::kJsonl}};

struct PutOptions {
  TextOptions documents;
  std::optional<DocumentFormat> format;
  PutFileOptions file;  // RunPut completes it
};

// Refuses flags that would have no effect on a file of this format, and those
// that could not do what they promise.
absl::Status CheckFlags(const PutOptions& options) {
  const DocumentReaderOptions& reader = options.file.reader;
  if (options.documents.path.empty()) {
    return UsageError("--documents=FILE is required (- is standard input)");
  }
  if (reader.form.with_tags && reader.format != DocumentFormat::kTsv) {
    return UsageError("--with_tags is for tsv; csv and jsonl name their tags");
  }
  if (reader.form.numeric_ids && reader.format == DocumentFormat::kJsonl) {
    return UsageError(
        "--numeric_ids is for tsv and csv; jsonl has id or document_id");
  }
  if (!options.file.state.empty() && !IsRereadable(options.documents.path)) {
    return FlagError("state", options.file.state,
                     "standard input and pipes cannot be continued");
  }
  if (!options.file.state.empty() && reader.num_lines_before > 0) {
    return UsageError("--state and --skip_lines: give one of them");
  }
  return CheckKeepsInputs({"state", options.file.state},
                          {{"documents", options.documents.path}});
}

// On standard output, although documents may have been refused: the counts are
// the result, and the exit code says whether all is well.
absl::Status PrintCounts(OutputFormat format, const PutCounts& counts) {
  if (format == OutputFormat::kJson) {
    return WriteJson({{"created", counts.num_created},
                      {"replaced", counts.num_replaced},
                      {"refused", counts.num_refused},
                      {"skipped_lines", counts.num_skipped_lines()}});
  }
  return WriteStdout(absl::StrFormat(
      "%s new, %s replaced, %s refused, of %s%s\n",
      GroupDigits(counts.num_created), GroupDigits(counts.num_replaced),
      GroupDigits(counts.num_refused),
      CountText(counts.num_documents(), "document"),
      DescribeSkipped(counts.num_skipped_lines())));
}

// Why nothing was put, although all lines were read. A file of bad lines is
// probably not UTF-8. What other machines or an earlier run have put may be all
// that the file contains.
absl::Status CheckPutSomething(const PutOptions& options,
                               const PutCounts& counts) {
  const std::string& path = options.documents.path;
  if (counts.num_documents() > 0) return absl::OkStatus();
  if (counts.num_bad_lines > 0) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "--documents=%s: no document was put, %s skipped", path,
        CountText(counts.num_bad_lines, "bad line was", "bad lines were")));
  }
  if (counts.last_line > 0 || options.file.reader.shard.count > 1) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrFormat("--documents=%s: contains no documents", path));
}

// After a failure. A server without --store loses its documents when it ends,
// and a client cannot see whether it has one.
void PrintHowToContinue(const PutOptions& options, const PutCounts& counts,
                        const absl::Status& status) {
  if (counts.last_line == 0) return;
  const std::string line = GroupDigits(counts.last_line);
  const bool may_be_lost =
      absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status);
  if (!options.file.state.empty()) {
    if (!may_be_lost) return;
    absl::FPrintF(stderr,
                  "all documents up to line %s were put: if the server keeps "
                  "them (--store), the same command continues there; otherwise "
                  "remove %s and begin again\n",
                  line, options.file.state);
  } else if (may_be_lost) {
    absl::FPrintF(stderr,
                  "all documents up to line %s were put: if the server keeps "
                  "them (--store), continue with --skip_lines=%d; otherwise "
                  "begin again\n",
                  line, counts.last_line);
  } else {
    absl::FPrintF(stderr,
                  "all documents up to line %s are put: continue with "
                  "--skip_lines=%d\n",
                  line, counts.last_line);
  }
}

// By value, since several flags together decide how the file is read.
absl::Status RunPut(PutOptions options, const CommonOptions& common) {
  options.file.documents = options.documents.path;
  options.file.address = common.client.address;
  options.file.reader.max_bad_lines = options.documents.max_bad_lines;
  options.file.reader.format =
      options.format.value_or(DocumentFormatOf(options.documents.path));
  SEMRANK_RETURN_IF_ERROR(CheckFlags(options));
  ClientOptions to_server = common.client;
  to_server.interrupted = Interrupted;
  SEMRANK_ASSIGN_OR_RETURN(const auto client, CatalogClient::Create(to_server));
  // From here on Ctrl-C ends the put, which then says how to continue it.
  CatchInterrupts();
  PutCounts counts;
  absl::Status status = PutFile(*client, options.file, counts);
  if (status.ok()) status = CheckPutSomething(options, counts);
  // Also after a failure, since the counts say what is in the catalog. A run
  // that failed before its first document has nothing to say.
  if (status.ok() || counts.num_documents() > 0) {
    SEMRANK_RETURN_IF_ERROR(PrintCounts(common.ResultFormat(), counts));
  }
  if (!status.ok()) PrintHowToContinue(options, counts, status);
  SEMRANK_RETURN_IF_ERROR(status);
  if (counts.num_refused == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("the server refused %s of %s; the others are put",
                      GroupDigits(counts.num_refused),
                      CountText(counts.num_documents(), "document")));
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
  command.Add("state", &options->file.state,
              "File that keeps how far an interrupted run came, so that the "
              "same command continues it; removed at the end. Empty = none.",
              "FILE");
  command.Add("numeric_ids", &options->file.reader.form.numeric_ids,
              "The ids are numbers from 0 to 2^64 - 1, which need less memory "
              "than names. The number 7 and the name \"7\" are different ids.");
  command.Add(
      "with_tags", &options->file.reader.form.with_tags,
      "A third column of a tsv file holds the document's tags, separated "
      "by commas. It is what follows the line's last tab; a line "
      "without one has no tags. semrank search filters by tags.");
  command.Add("skip_lines", &options->file.reader.num_lines_before,
              "Lines at the beginning to leave out, because an earlier run has "
              "put them; an interrupted run prints how many.",
              {.min = 0});
  AddShardFlag(command, options->file.reader.shard);
  return {kPutInfo.name,
          [options, &common] { return RunPut(*options, common); }};
}

}  // namespace semrank
