#include "client/bulk/put_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>

#include "absl/strings/str_format.h"
#include "client/bulk/resumable_file.h"
#include "client/output/call_report.h"
#include "client/output/output.h"
#include "model/base/file_descriptor.h"
#include "model/base/fingerprint.h"
#include "model/base/status_macros.h"
#include "model/cli/progress.h"

namespace semrank {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const PutCounts& counts) {
  return {{"lines", counts.last_line},
          {"created", counts.num_created},
          {"replaced", counts.num_replaced},
          {"refused", counts.num_refused},
          {"bad_lines", counts.num_bad_lines}};
}

PutCounts FromJson(const Json& json) {
  const auto count = [&](const char* name) {
    return json.value(name, std::int64_t{0});
  };
  return {.num_created = count("created"),
          .num_replaced = count("replaced"),
          .num_refused = count("refused"),
          .num_bad_lines = count("bad_lines"),
          .last_line = count("lines")};
}

std::string NameOf(const v1::Document& document, std::int64_t line) {
  const std::string key = KeyText(document);
  return key.empty() ? absl::StrFormat("line %d", line) : key;
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
              {"numeric_ids", reader.numeric_ids ? "on" : "off"},
              {"tags", reader.with_tags ? "on" : "off"},
              {"shard", FormatShard(reader.shard)}};
}

// How far the work came, kept in the state file if there is one.
class SavedProgress {
 public:
  explicit SavedProgress(const PutFileOptions& options) : options_(options) {}

  // Continues the counts of an earlier run.
  absl::Status Read(PutCounts& counts) {
    if (options_.state.empty()) return absl::OkStatus();
    SEMRANK_ASSIGN_OR_RETURN(state_.identity, Identity(options_));
    SEMRANK_ASSIGN_OR_RETURN(const std::optional<ResumableState> before,
                             ReadStateFile(options_.state));
    if (!before.has_value()) return absl::OkStatus();
    SEMRANK_RETURN_IF_ERROR(
        CheckStateFile(options_.state, *before, state_.identity));
    counts = FromJson(before->progress);
    absl::FPrintF(stderr, "%s: continuing after line %d, %d documents\n",
                  options_.state, counts.last_line, counts.num_documents());
    return absl::OkStatus();
  }
  absl::Status Save(const PutCounts& counts) {
    if (options_.state.empty()) return absl::OkStatus();
    state_.progress = ToJson(counts);
    return WriteStateFile(options_.state, state_);
  }
  absl::Status Remove() const {
    if (options_.state.empty() || unlink(options_.state.c_str()) == 0 ||
        errno == ENOENT) {
      return absl::OkStatus();
    }
    return ErrnoStatus(errno, "remove", options_.state);
  }

 private:
  const PutFileOptions& options_;
  ResumableState state_;
};

absl::Status PutBlock(CatalogClient& client, const DocumentBlock& block,
                      ProgressBar& bar, ProblemReport& problems,
                      PutCounts& counts) {
  const std::int64_t num_before = counts.num_documents();
  return client.Put(
      static_cast<std::int64_t>(block.documents.size()),
      [&](std::int64_t i, v1::Document& document) {
        document = block.documents[i];
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
        if (num_done > 0) counts.last_line = block.lines[num_done - 1];
        bar.Update(counts.num_documents());
        return absl::OkStatus();
      });
}

}  // namespace

absl::Status PutFile(CatalogClient& client, const PutFileOptions& options,
                     PutCounts& counts) {
  counts.last_line = options.reader.num_lines_before;
  SavedProgress saved(options);
  SEMRANK_RETURN_IF_ERROR(saved.Read(counts));
  DocumentReaderOptions from = options.reader;
  from.num_lines_before = counts.last_line;
  // The limit counts over all runs with one state file.
  from.max_bad_lines =
      std::max<std::int64_t>(0, from.max_bad_lines - counts.num_bad_lines);
  const std::int64_t num_bad_lines_before = counts.num_bad_lines;
  SEMRANK_ASSIGN_OR_RETURN(const std::int64_t num_lines,
                           CountLines(options.documents, from.shard));
  SEMRANK_ASSIGN_OR_RETURN(const auto reader,
                           DocumentReader::Open(options.documents, from));
  // Skipped lines are not counted as done, those of an earlier run are.
  const std::int64_t num_skipped =
      from.shard.NumLines(options.reader.num_lines_before);
  ProgressBar bar("put", std::max<std::int64_t>(0, num_lines - num_skipped),
                  "documents");
  ProblemReport problems("not put");
  while (true) {
    const absl::StatusOr<DocumentBlock> block = reader->NextBlock();
    counts.num_bad_lines = num_bad_lines_before + reader->num_bad_lines();
    SEMRANK_RETURN_IF_ERROR(block.status());
    if (block->empty()) return saved.Remove();
    const absl::Status status = PutBlock(client, *block, bar, problems, counts);
    // Also after a failure: what was acknowledged need not be sent again.
    SEMRANK_RETURN_IF_ERROR(saved.Save(counts));
    if (!status.ok()) return WithHint(status);
  }
}

}  // namespace semrank
