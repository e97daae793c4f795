#include "client/bulk/put_file.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "client/input/text_reader.h"
#include "client/input/unicode.h"
#include "client/lib/client_status.h"
#include "client/output/call_report.h"
#include "model/base/status_macros.h"
#include "model/cli/program.h"
#include "model/cli/progress.h"

namespace semrank {
namespace {

constexpr std::int64_t kMaxRefusalsPrinted = 10;

absl::Status BadId(const PutFileOptions& options, const TextLine& line,
                   std::string_view reason) {
  return UsageError(absl::StrFormat("%s:%d: %s", options.documents, line.number,
                                    EscapeControls(std::string(reason))));
}

absl::StatusOr<std::string> IdOf(const PutFileOptions& options,
                                 const TextLine& line) {
  if (!line.id.has_value() || line.id->empty()) {
    return BadId(options, line,
                 absl::StrFormat("\"%s\" has no id: want \"doc_id<TAB>title\"",
                                 line.text));
  }
  const std::string id(*line.id);
  std::uint64_t number = 0;
  if (options.numeric_ids && !absl::SimpleAtoi(id, &number)) {
    return BadId(
        options, line,
        absl::StrFormat("the id \"%s\" is no number from 0 to 2^64 - 1 "
                        "(--numeric_ids)",
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

void PrintProblems(const TextBlock& block,
                   const v1::PutDocumentsStreamResponse& answer,
                   std::int64_t num_before) {
  for (const v1::Problem& problem : answer.problems()) {
    if (num_before++ >= kMaxRefusalsPrinted) return;
    const std::string& id =
        block.list.ids[answer.first_document() + problem.index()];
    const absl::Status status = FromItemStatus(problem.status());
    absl::FPrintF(stderr, "not put: %s: %s\n", EscapeControls(id),
                  EscapeControls(std::string(status.message())));
  }
}

absl::Status PutBlock(CatalogClient& client, const TextBlock& block,
                      bool numeric_ids, ProgressBar& bar, PutCounts& counts) {
  std::size_t num_answered = 0;
  return client.Put(
      static_cast<std::int64_t>(block.lines.size()),
      [&](std::int64_t i, v1::Document& document) {
        SetId(block.list.ids[i], numeric_ids, document);
        document.set_title(block.list.texts[i]);
      },
      [&](const v1::PutDocumentsStreamResponse& answer) {
        PrintProblems(block, answer, counts.num_refused);
        counts.num_created += answer.num_created();
        counts.num_replaced += answer.num_replaced();
        counts.num_refused += answer.problems_size();
        num_answered += answer.num_created() + answer.num_replaced() +
                        answer.problems_size();
        if (num_answered > 0) counts.last_line = block.lines[num_answered - 1];
        bar.Update(counts.num_documents());
        return absl::OkStatus();
      });
}

}  // namespace

absl::Status PutFile(CatalogClient& client, const PutFileOptions& options,
                     PutCounts& counts) {
  SEMRANK_ASSIGN_OR_RETURN(const std::int64_t num_lines,
                           CountLines(options.documents, options.shard));
  SEMRANK_ASSIGN_OR_RETURN(
      const std::unique_ptr<TextReader> reader,
      TextReader::Open(options.documents,
                       {.max_bad_lines = options.max_bad_lines,
                        .skip_empty_lines = true,
                        .num_lines_before = options.skip_lines,
                        .shard = options.shard}));
  counts.last_line = options.skip_lines;
  const std::int64_t num_skipped = options.shard.NumLines(options.skip_lines);
  ProgressBar bar("put", std::max<std::int64_t>(0, num_lines - num_skipped),
                  "documents");
  while (true) {
    SEMRANK_ASSIGN_OR_RETURN(const TextBlock block,
                             reader->NextBlock([&](const TextLine& line) {
                               return IdOf(options, line);
                             }));
    if (block.empty()) return absl::OkStatus();
    const absl::Status status =
        PutBlock(client, block, options.numeric_ids, bar, counts);
    if (!status.ok()) return WithHint(status);
  }
}

}  // namespace semrank
