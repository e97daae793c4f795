#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "absl/flags/flag.h"
#include "absl/strings/str_format.h"
#include "client/bulk/put_file.h"
#include "client/commands/command.h"
#include "client/commands/connection_flags.h"
#include "client/commands/shard_flag.h"
#include "client/commands/text_flags.h"
#include "client/lib/catalog_client.h"
#include "model/base/status_macros.h"
#include "model/cli/program.h"

ABSL_FLAG(
    std::string, documents, "",
    "File of documents, one a line: \"doc_id<TAB>title\"; plain, .gz or .zst; "
    "- = standard input. Required.");
ABSL_FLAG(bool, numeric_ids, false,
          "The ids are numbers from 0 to 2^64 - 1, which cost less than names "
          "and are documents of their own: 7 and \"7\" are two.");

ABSL_FLAG(std::int64_t, skip_lines, 0,
          "Lines at the beginning that are left out because an earlier run has "
          "put them: it says how many when it breaks off.");

namespace semrank {
namespace {

constexpr std::string_view kUsage =
    "Usage:\n"
    "  semrank put --documents=FILE|- [flags]\n"
    "\n"
    "Puts documents into the server's catalog, where semrank search finds them "
    "and\n"
    "requests name them by id. A document whose id is known takes the other's "
    "place,\n"
    "so a run that broke off can be repeated as it is, or go on with "
    "--skip_lines. Documents\n"
    "that the server refuses are named on standard error, and the exit code is "
    "1.\n"
    "\n"
    "Examples:\n"
    "  semrank put --documents=docs.tsv.gz\n"
    "  semrank put --documents=docs.tsv --numeric_ids\n"
    "  mysql -BNe \"select id, title from shop\" | semrank put --documents=- "
    "--numeric_ids\n";

absl::StatusOr<PutFileOptions> PutFileFromFlags() {
  PutFileOptions options;
  options.documents = absl::GetFlag(FLAGS_documents);
  if (options.documents.empty()) {
    return FlagError("documents", "", "which documents?");
  }
  options.numeric_ids = absl::GetFlag(FLAGS_numeric_ids);
  options.skip_lines = absl::GetFlag(FLAGS_skip_lines);
  if (options.skip_lines < 0) {
    return FlagError("skip_lines", std::to_string(options.skip_lines),
                     "must not be negative");
  }
  SEMRANK_ASSIGN_OR_RETURN(options.shard, ShardFromFlags());
  SEMRANK_ASSIGN_OR_RETURN(options.max_bad_lines, MaxBadLinesFromFlags());
  return options;
}

absl::Status Run(const std::vector<std::string>& /*arguments*/) {
  SEMRANK_ASSIGN_OR_RETURN(const PutFileOptions options, PutFileFromFlags());
  SEMRANK_ASSIGN_OR_RETURN(const ClientOptions connection, OptionsFromFlags());
  SEMRANK_ASSIGN_OR_RETURN(const std::unique_ptr<CatalogClient> client,
                           CatalogClient::Create(connection));
  PutCounts counts;
  const absl::Status status = PutFile(*client, options, counts);
  absl::PrintF("%d new, %d replaced, %d refused, of %d documents\n",
               counts.num_created, counts.num_replaced, counts.num_refused,
               counts.num_documents());
  if (!status.ok() && counts.last_line > 0) {
    absl::FPrintF(stderr,
                  "up to line %d all are put: --skip_lines=%d goes on there\n",
                  counts.last_line, counts.last_line);
  }
  SEMRANK_RETURN_IF_ERROR(status);
  if (counts.num_refused == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("%d of %d documents were refused; the others are put",
                      counts.num_refused, counts.num_documents()));
}

}  // namespace

const Command kPutCommand = {
    .name = "put",
    .summary = "puts documents into the catalog",
    .usage = kUsage,
    .flag_sources =
        "client/commands/put_command client/commands/shard_flag "
        "client/commands/text_flags "
        "client/commands/connection_flags",
    .takes_arguments = false,
    .run = Run,
};

}  // namespace semrank
