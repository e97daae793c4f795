#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "absl/flags/flag.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "client/advice.h"
#include "client/catalog_client.h"
#include "client/client_status.h"
#include "client/command.h"
#include "client/connection_flags.h"
#include "client/text_flags.h"
#include "client/unicode.h"
#include "model/base/program.h"
#include "model/base/progress.h"
#include "model/base/status_macros.h"

ABSL_FLAG(
    std::string, documents, "",
    "File of documents, one a line: \"doc_id<TAB>title\"; plain, .gz or .zst; "
    "- = standard input. Required.");
ABSL_FLAG(bool, numeric_ids, false,
          "The ids are numbers from 0 to 2^64 - 1, which cost less than names "
          "and are documents of their own: 7 and \"7\" are two.");

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
    "so a run that broke off is repeated as it is. Documents that the server "
    "refuses\n"
    "are named on standard error, and the exit code is 1.\n"
    "\n"
    "Examples:\n"
    "  semrank put --documents=docs.tsv.gz\n"
    "  semrank put --documents=docs.tsv --numeric_ids\n"
    "  mysql -BNe \"select id, title from shop\" | semrank put --documents=- "
    "--numeric_ids\n";

constexpr std::int64_t kMaxProblemsPrinted = 10;

// Of each document; empty unless they are numbers.
absl::StatusOr<std::vector<std::uint64_t>> NumbersOf(
    const TextList& documents) {
  std::vector<std::uint64_t> numbers;
  if (!absl::GetFlag(FLAGS_numeric_ids)) return numbers;
  for (const std::string& id : documents.ids) {
    std::uint64_t number = 0;
    if (!absl::SimpleAtoi(id, &number)) {
      return FlagError("numeric_ids", "true",
                       absl::StrFormat("the id \"%s\" is no number from 0 to "
                                       "2^64 - 1",
                                       EscapeControls(id)));
    }
    numbers.push_back(number);
  }
  return numbers;
}

absl::StatusOr<TextList> ReadDocuments() {
  const std::string path = absl::GetFlag(FLAGS_documents);
  if (path.empty()) return FlagError("documents", "", "which documents?");
  SEMRANK_ASSIGN_OR_RETURN(TextList documents,
                           TextsFromFlags({.flag = "documents",
                                           .path = path,
                                           .arguments = {},
                                           .skip_empty_lines = true}));
  documents.ids.resize(documents.texts.size());
  for (std::size_t i = 0; i < documents.ids.size(); ++i) {
    if (!documents.ids[i].empty()) continue;
    return FlagError("documents", path,
                     absl::StrFormat("\"%s\" has no id: want "
                                     "\"doc_id<TAB>title\"",
                                     EscapeControls(documents.texts[i])));
  }
  return documents;
}

// What came of it, summed up.
struct Counts {
  std::int64_t num_created = 0;
  std::int64_t num_replaced = 0;
  std::int64_t num_problems = 0;

  void Add(const v1::PutDocumentsStreamResponse& answer) {
    num_created += answer.num_created();
    num_replaced += answer.num_replaced();
    num_problems += answer.problems_size();
  }
};

void PrintProblems(const TextList& documents,
                   const v1::PutDocumentsStreamResponse& answer,
                   std::int64_t num_before) {
  for (const v1::Problem& problem : answer.problems()) {
    if (num_before++ >= kMaxProblemsPrinted) return;
    const std::string& id =
        documents.ids[answer.first_document() + problem.index()];
    const absl::Status status = FromItemStatus(problem.status());
    absl::FPrintF(stderr, "not put: %s: %s\n", EscapeControls(id),
                  EscapeControls(std::string(status.message())));
  }
}

absl::Status PutAll(CatalogClient& client, const TextList& documents,
                    const std::vector<std::uint64_t>& numbers, Counts& counts) {
  const auto count = static_cast<std::int64_t>(documents.texts.size());
  ProgressBar bar("put", count, "documents");
  const absl::Status status = client.Put(
      count,
      [&](std::int64_t i, v1::Document& document) {
        if (numbers.empty()) {
          document.set_document_id(documents.ids[i]);
        } else {
          document.set_id(numbers[i]);
        }
        document.set_title(documents.texts[i]);
      },
      [&](const v1::PutDocumentsStreamResponse& answer) {
        PrintProblems(documents, answer, counts.num_problems);
        counts.Add(answer);
        bar.Update(counts.num_created + counts.num_replaced +
                   counts.num_problems);
        return absl::OkStatus();
      });
  return status.ok() ? status : WithAdvice(status);
}

absl::Status Run(const std::vector<std::string>& /*arguments*/) {
  SEMRANK_ASSIGN_OR_RETURN(const ClientOptions options, OptionsFromFlags());
  SEMRANK_ASSIGN_OR_RETURN(const std::unique_ptr<CatalogClient> client,
                           CatalogClient::Create(options));
  SEMRANK_ASSIGN_OR_RETURN(const TextList documents, ReadDocuments());
  SEMRANK_ASSIGN_OR_RETURN(const auto numbers, NumbersOf(documents));
  Counts counts;
  const absl::Status status = PutAll(*client, documents, numbers, counts);
  absl::PrintF("%d new, %d replaced, %d refused, of %d documents\n",
               counts.num_created, counts.num_replaced, counts.num_problems,
               documents.texts.size());
  SEMRANK_RETURN_IF_ERROR(status);
  if (counts.num_problems == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("%d of %d documents were refused; the others are put",
                      counts.num_problems, documents.texts.size()));
}

}  // namespace

const Command kPutCommand = {
    .name = "put",
    .summary = "puts documents into the catalog",
    .usage = kUsage,
    .flag_sources =
        "client/put_command client/text_flags client/connection_flags",
    .takes_arguments = false,
    .run = Run,
};

}  // namespace semrank
