#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "client/commands/command.h"
#include "client/lib/catalog_client.h"
#include "model/base/status_macros.h"
#include "model/cli/progress.h"

namespace semrank {
namespace {

constexpr ProgramInfo kPutInfo = {.name = "put",
                                  .summary = "puts documents into the catalog",
                                  .usage = R"(Usage:
  semrank put --documents=FILE|- [flags]

Puts documents into the server's catalog, where semrank search finds them and requests
name them by id. A document replaces the one with the same id, so an interrupted run can
be repeated, or continued with --skip_lines. Documents that the server refuses are
reported on standard error; then the exit code is 1.

Examples:
  semrank put --documents=docs.tsv.gz
  semrank put --documents=docs.tsv --numeric_ids
  semrank put --documents=tagged.tsv --with_tags
  mysql -BNe "select id, title from shop" | semrank put --documents=- --numeric_ids
)"};

struct PutOptions {
  TextOptions documents;
  bool numeric_ids = false;
  bool with_tags = false;
  std::int64_t skip_lines = 0;
  Shard shard;
};

struct PutCounts {
  std::int64_t num_created = 0;
  std::int64_t num_replaced = 0;
  std::int64_t num_refused = 0;
  std::int64_t num_bad_lines = 0;
  // The server has responded up to this line.
  std::int64_t last_line = 0;

  std::int64_t num_documents() const {
    return num_created + num_replaced + num_refused;
  }
};

absl::Status BadId(const PutOptions& options, const TextLine& line,
                   std::string_view reason) {
  return UsageError(absl::StrFormat("%s:%d: %s", options.documents.path,
                                    line.number, reason));
}

absl::StatusOr<std::string> IdOf(const PutOptions& options,
                                 const TextLine& line) {
  if (!line.id.has_value() || line.id->empty()) {
    return BadId(options, line,
                 absl::StrFormat("\"%s\" has no id: want \"doc_id<TAB>title\"",
                                 line.text));
  }
  const std::string id(*line.id);
  std::uint64_t number = 0;
  if (options.numeric_ids && !absl::SimpleAtoi(id, &number)) {
    return BadId(options, line,
                 absl::StrFormat("the id \"%s\" is not a number from 0 to "
                                 "2^64 - 1 (--numeric_ids)",
                                 id));
  }
  return id;
}

void SetId(const std::string& id, bool numeric, v1::Document& document) {
  std::uint64_t number = 0;
  if (numeric && absl::SimpleAtoi(id, &number)) {
    document.set_id(number);
  } else {
    document.set_document_id(id);
  }
}

// What follows the id: the title, or the title, a tab and the tags.
void SetTitle(std::string_view text, bool with_tags, v1::Document& document) {
  const std::size_t tab = with_tags ? text.rfind('\t') : text.npos;
  document.set_title(std::string(text.substr(0, tab)));
  if (tab == text.npos) return;
  for (std::string& tag : SplitTags(text.substr(tab + 1))) {
    *document.add_tags() = std::move(tag);
  }
}

absl::Status PutBlock(CatalogClient& client, const TextBlock& block,
                      const PutOptions& options, ProgressBar& bar,
                      ProblemReport& problems, PutCounts& counts) {
  const std::int64_t num_before = counts.num_documents();
  return client.Put(
      static_cast<std::int64_t>(block.lines.size()),
      [&](std::int64_t i, v1::Document& document) {
        SetId(block.list.ids[i], options.numeric_ids, document);
        SetTitle(block.list.texts[i], options.with_tags, document);
      },
      [&](const v1::PutDocumentsStreamResponse& response) {
        for (const v1::Problem& problem : response.problems()) {
          problems.Add(
              block.list.ids[response.first_document() + problem.index()],
              problem);
        }
        counts.num_created += response.num_created();
        counts.num_replaced += response.num_replaced();
        counts.num_refused += response.problems_size();
        const std::int64_t num_done = counts.num_documents() - num_before;
        if (num_done > 0) counts.last_line = block.lines[num_done - 1];
        bar.Update(counts.num_documents());
        return absl::OkStatus();
      });
}

// A block of lines at a time, so that memory does not grow with the file.
// `counts` is valid also after an error.
absl::Status PutFile(CatalogClient& client, const PutOptions& options,
                     PutCounts& counts) {
  const std::string& path = options.documents.path;
  SEMRANK_ASSIGN_OR_RETURN(const std::int64_t num_lines,
                           CountLines(path, options.shard));
  SEMRANK_ASSIGN_OR_RETURN(
      const auto reader,
      TextReader::Open(path, {.max_bad_lines = options.documents.max_bad_lines,
                              .skip_empty_lines = true,
                              .num_lines_before = options.skip_lines,
                              .shard = options.shard}));
  counts.last_line = options.skip_lines;
  const std::int64_t num_skipped = options.shard.NumLines(options.skip_lines);
  ProgressBar bar("put", std::max<std::int64_t>(0, num_lines - num_skipped),
                  "documents");
  ProblemReport problems("not put");
  while (true) {
    SEMRANK_ASSIGN_OR_RETURN(const TextBlock block,
                             reader->NextBlock([&](const TextLine& line) {
                               return IdOf(options, line);
                             }));
    counts.num_bad_lines = reader->num_bad_lines();
    if (block.empty()) return absl::OkStatus();
    const absl::Status status =
        PutBlock(client, block, options, bar, problems, counts);
    if (!status.ok()) return WithHint(status);
  }
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
  if (options.documents.path.empty()) {
    return UsageError("--documents=FILE is required (- is standard input)");
  }
  SEMRANK_ASSIGN_OR_RETURN(const auto client,
                           CatalogClient::Create(common.client));
  PutCounts counts;
  const absl::Status status = PutFile(*client, options, counts);
  SEMRANK_RETURN_IF_ERROR(PrintCounts(common.ResultFormat(), counts));
  if (!status.ok() && counts.last_line > 0) {
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
               "File of documents, one per line: \"doc_id<TAB>title\"; plain, "
               ".gz or .zst; - = standard input. Empty lines are ignored.",
               options->documents);
  command.Add("numeric_ids", &options->numeric_ids,
              "The ids are numbers from 0 to 2^64 - 1, which need less memory "
              "than names. The number 7 and the name \"7\" are different ids.");
  command.Add("with_tags", &options->with_tags,
              "A third column holds the document's tags, separated by commas: "
              "\"doc_id<TAB>title<TAB>tag,tag\". It is what follows the "
              "line's last tab; a line without one has no tags. semrank search "
              "filters by tags.");
  command.Add("skip_lines", &options->skip_lines,
              "Lines at the beginning to leave out, because an earlier run has "
              "put them; an interrupted run prints how many.",
              {.min = 0});
  AddShardFlag(command, options->shard);
  return {kPutInfo.name,
          [options, &common] { return RunPut(*options, common); }};
}

}  // namespace semrank
