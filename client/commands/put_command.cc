// `semrank put`: puts the documents of a file of any size into the catalog.
//
// The file is read in blocks. Each block goes over one stream, whose responses
// come in the order of the documents, so a count of lines says how far the run
// came. The state file keeps that count after each block. A document that is
// put twice replaces itself: to continue a little too early does no harm.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "client/bulk/resumable_file.h"
#include "client/commands/command.h"
#include "client/commands/put_progress.h"
#include "client/lib/catalog_client.h"
#include "model/base/fingerprint.h"
#include "model/base/interrupt.h"
#include "model/base/status_macros.h"
#include "model/cli/exit_code.h"
#include "model/cli/output_paths.h"
#include "model/cli/progress.h"
#include "model/data/document_formats.h"
#include "model/data/document_reader.h"
#include "model/data/input_progress.h"

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

using Json = nlohmann::ordered_json;

struct PutOptions {
  TextOptions documents;
  std::optional<DocumentFormat> format;
  DocumentReaderOptions reader;
  std::string state;  // the state file; empty = none
};

// A document that was refused for its key may have none.
std::string NameOf(const FileDocument& document, std::int64_t line) {
  return document.id.empty() ? absl::StrFormat("line %d", line) : document.id;
}

// The reader has checked the numbers of numeric ids. A document without a key
// is sent all the same: the server refuses it, and the user sees its line.
void SetFields(const FileDocument& from, v1::Document& document) {
  std::uint64_t number = 0;
  if (from.numeric_id && absl::SimpleAtoi(from.id, &number)) {
    document.set_id(number);
  } else if (!from.id.empty()) {
    document.set_document_id(from.id);
  }
  document.set_title(from.title);
  document.set_payload(from.payload);
  document.mutable_tags()->Assign(from.tags.begin(), from.tags.end());
}

// Everything that must not change between an interrupted run and its
// continuation. A state file belongs to one server.
absl::StatusOr<Json> Identity(const PutOptions& options,
                              const std::string& address) {
  const DocumentReaderOptions& reader = options.reader;
  SEMRANK_ASSIGN_OR_RETURN(const std::string documents,
                           FileFingerprint(options.documents.path));
  return Json{{"documents", documents},
              {"server", address},
              {"format", std::to_string(static_cast<int>(reader.format))},
              {"numeric_ids", reader.form.numeric_ids ? "on" : "off"},
              {"tags", reader.form.with_tags ? "on" : "off"},
              {"shard", FormatShard(reader.shard)}};
}

// Documents are made from the block each time, since those without a response
// are sent again after a broken stream.
absl::Status PutBlock(CatalogClient& client, const DocumentBlock& block,
                      InputProgress& progress, ProblemReport& problems,
                      PutCounts& counts) {
  // Counts are of the whole run; `make` and the block number from 0.
  const std::int64_t num_before = counts.num_documents();
  return client.Put(
      static_cast<std::int64_t>(block.documents.size()),
      [&](std::int64_t i, v1::Document& document) {
        SetFields(block.documents[i], document);
      },
      [&](const v1::PutDocumentsStreamResponse& response) {
        for (const v1::Problem& problem : response.problems()) {
          const std::size_t i = response.first_document() + problem.index();
          problems.Add(NameOf(block.documents[i], block.lines[i]), problem);
        }
        // Responses come in the order of the documents, so counts show how far
        // the block is put, and hence the last line.
        counts.num_created += response.num_created();
        counts.num_replaced += response.num_replaced();
        counts.num_refused += response.problems_size();
        const std::int64_t num_done = counts.num_documents() - num_before;
        if (num_done > 0) {
          counts.last_line = block.lines[num_done - 1];
          // The run that continues counts the bad lines after it.
          counts.num_bad_lines = block.bad_lines[num_done - 1];
        }
        progress.Update(num_done, counts.num_documents());
        return absl::OkStatus();
      });
}

// Puts a file of any size in the memory of a block. `counts` is valid also
// after an error.
absl::Status PutFile(CatalogClient& client, const PutOptions& options,
                     const std::string& address, PutCounts& counts) {
  counts.last_line = options.reader.num_lines_before;
  SavedProgress saved(options.state);
  if (!options.state.empty()) {
    SEMRANK_ASSIGN_OR_RETURN(Json identity, Identity(options, address));
    SEMRANK_RETURN_IF_ERROR(saved.Read(std::move(identity), counts));
  }
  DocumentReaderOptions from = options.reader;
  from.num_lines_before = counts.last_line;
  // The limit counts over all runs with one state file.
  from.num_bad_lines_before = counts.num_bad_lines;
  SEMRANK_ASSIGN_OR_RETURN(const auto reader,
                           DocumentReader::Open(options.documents.path, from));
  InputProgress progress("put", {options.documents.path}, "document");
  ProblemReport problems("not put");
  while (true) {
    const absl::StatusOr<DocumentBlock> block = reader->NextBlock();
    // Bad lines may follow the last document.
    if (!block.ok() || block->empty()) {
      counts.num_bad_lines = reader->num_bad_lines();
    }
    if (!block.ok()) {
      counts.num_unread_lines = reader->num_unread_lines();
      return block.status();
    }
    // The state is removed only here, at the end of the file: a run that failed
    // or was interrupted needs it.
    if (block->empty()) {
      progress.Finish(counts.num_documents());
      return saved.Remove();
    }
    progress.StartBlock(block->begin, block->end, block->documents.size());
    const absl::Status status =
        PutBlock(client, *block, progress, problems, counts);
    // Also after a failure: what was acknowledged need not be sent again.
    SEMRANK_RETURN_IF_ERROR(saved.Save(counts));
    if (status.ok()) continue;
    if (!Interrupted()) return WithHint(status);
    return absl::CancelledError(
        options.state.empty() ? "interrupted"
                              : "interrupted: the same command continues");
  }
}

// Refuses flags that would have no effect on a file of this format, and those
// that could not do what they promise.
absl::Status CheckFlags(const PutOptions& options) {
  const DocumentReaderOptions& reader = options.reader;
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
  if (!options.state.empty() && !IsRereadable(options.documents.path)) {
    return FlagError("state", options.state,
                     "standard input and pipes cannot be continued");
  }
  if (!options.state.empty() && reader.num_lines_before > 0) {
    return UsageError("--state and --skip_lines: give one of them");
  }
  return CheckKeepsInputs({"state", options.state},
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
  if (counts.last_line > 0 || options.reader.shard.count > 1) {
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
  if (!options.state.empty()) {
    if (!may_be_lost) return;
    absl::FPrintF(stderr,
                  "all documents up to line %s were put: if the server keeps "
                  "them (--store), the same command continues there; otherwise "
                  "remove %s and begin again\n",
                  line, options.state);
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
  options.reader.max_bad_lines = options.documents.max_bad_lines;
  options.reader.format =
      options.format.value_or(DocumentFormatOf(options.documents.path));
  SEMRANK_RETURN_IF_ERROR(CheckFlags(options));
  ClientOptions to_server = common.client;
  to_server.interrupted = Interrupted;
  SEMRANK_ASSIGN_OR_RETURN(const auto client, CatalogClient::Create(to_server));
  // From here on Ctrl-C ends the put, which then says how to continue it.
  CatchInterrupts();
  PutCounts counts;
  absl::Status status =
      PutFile(*client, options, common.client.address, counts);
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
  command.Add("state", &options->state,
              "File that keeps how far an interrupted run came, so that the "
              "same command continues it; removed at the end. Empty = none.",
              "FILE");
  command.Add("numeric_ids", &options->reader.form.numeric_ids,
              "The ids are numbers from 0 to 2^64 - 1, which need less memory "
              "than names. The number 7 and the name \"7\" are different ids.");
  command.Add(
      "with_tags", &options->reader.form.with_tags,
      "A third column of a tsv file holds the document's tags, separated "
      "by commas. It is what follows the line's last tab; a line "
      "without one has no tags. semrank search filters by tags.");
  command.Add("skip_lines", &options->reader.num_lines_before,
              "Lines at the beginning to leave out, because an earlier run has "
              "put them; an interrupted run prints how many.",
              {.min = 0});
  AddShardFlag(command, options->reader.shard);
  return {kPutInfo.name,
          [options, &common] { return RunPut(*options, common); }};
}

}  // namespace semrank
