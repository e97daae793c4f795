#include "client/bulk/put_file.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "client/bulk/resumable_file.h"
#include "client/output/call_report.h"
#include "model/base/count_text.h"
#include "model/base/file_io.h"
#include "model/base/fingerprint.h"
#include "model/base/interrupt.h"
#include "model/base/status_macros.h"
#include "model/data/input_progress.h"

// The state is that of a ResumableFile (resumable_file.h) without a file of
// rows: what was put is in the catalog, so only counts and the identity of the
// run are kept.
namespace semrank {
namespace {

using Json = nlohmann::ordered_json;

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
// continuation.
absl::StatusOr<Json> Identity(const PutFileOptions& options) {
  const DocumentReaderOptions& reader = options.reader;
  SEMRANK_ASSIGN_OR_RETURN(const std::string documents,
                           FileFingerprint(options.documents));
  return Json{{"documents", documents},
              {"server", options.address},
              {"format", std::to_string(static_cast<int>(reader.format))},
              {"numeric_ids", reader.form.numeric_ids ? "on" : "off"},
              {"tags", reader.form.with_tags ? "on" : "off"},
              {"shard", FormatShard(reader.shard)}};
}

// These names stay: a run may be continued by a newer release.
Json ToJson(const PutCounts& counts) {
  return {{"lines", counts.last_line},
          {"created", counts.num_created},
          {"replaced", counts.num_replaced},
          {"refused", counts.num_refused},
          {"bad_lines", counts.num_bad_lines}};
}

// ReadStateFile has checked that all values are numbers from 0. A count that an
// older release did not write is 0.
PutCounts CountsOf(const Json& json) {
  const auto count = [&](const char* name) {
    return json.value(name, std::int64_t{0});
  };
  return {.num_created = count("created"),
          .num_replaced = count("replaced"),
          .num_refused = count("refused"),
          .num_bad_lines = count("bad_lines"),
          .last_line = count("lines")};
}

// Returns the state of this run, and sets `counts` to those of the run that it
// continues; leaves them as they are if there is none.
absl::StatusOr<ResumableState> Continue(const PutFileOptions& options,
                                        PutCounts& counts) {
  ResumableState state;
  if (options.state.empty()) return state;
  SEMRANK_ASSIGN_OR_RETURN(state.identity, Identity(options));
  SEMRANK_ASSIGN_OR_RETURN(const std::optional<ResumableState> before,
                           ReadStateFile(options.state));
  if (!before.has_value()) return state;
  SEMRANK_RETURN_IF_ERROR(
      CheckStateFile(options.state, *before, state.identity));
  counts = CountsOf(before->progress);
  absl::FPrintF(stderr, "%s: continuing after line %s, %s\n", options.state,
                GroupDigits(counts.last_line),
                CountText(counts.num_documents(), "document"));
  return state;
}

absl::Status Save(const PutFileOptions& options, const PutCounts& counts,
                  ResumableState& state) {
  if (options.state.empty()) return absl::OkStatus();
  state.progress = ToJson(counts);
  return WriteStateFile(options.state, state);
}

// No file is no error: a short run ends before its first Save.
absl::Status RemoveState(const PutFileOptions& options) {
  return options.state.empty() ? absl::OkStatus() : RemoveFile(options.state);
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

}  // namespace

absl::Status PutFile(CatalogClient& client, const PutFileOptions& options,
                     PutCounts& counts) {
  counts.last_line = options.reader.num_lines_before;
  SEMRANK_ASSIGN_OR_RETURN(ResumableState state, Continue(options, counts));
  DocumentReaderOptions from = options.reader;
  from.num_lines_before = counts.last_line;
  // The limit counts over all runs with one state file.
  from.num_bad_lines_before = counts.num_bad_lines;
  SEMRANK_ASSIGN_OR_RETURN(const auto reader,
                           DocumentReader::Open(options.documents, from));
  InputProgress progress("put", {options.documents}, "document");
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
      return RemoveState(options);
    }
    progress.StartBlock(block->begin, block->end, block->documents.size());
    const absl::Status status =
        PutBlock(client, *block, progress, problems, counts);
    // Also after a failure: what was acknowledged need not be sent again.
    SEMRANK_RETURN_IF_ERROR(Save(options, counts, state));
    if (status.ok()) continue;
    if (!Interrupted()) return WithHint(status);
    return absl::CancelledError(
        options.state.empty() ? "interrupted"
                              : "interrupted: the same command continues");
  }
}

}  // namespace semrank
