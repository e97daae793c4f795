#include "client/commands/put_progress.h"

#include <cstdio>
#include <optional>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/count_text.h"
#include "model/base/file_io.h"
#include "model/base/status_macros.h"

// The state is that of a ResumableFile (resumable_file.h) without a file of
// rows: what was put is in the catalog, so only counts and the identity of the
// run are kept.
namespace semrank {
namespace {

using Json = nlohmann::ordered_json;

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

}  // namespace

absl::Status SavedProgress::Read(Json identity, PutCounts& counts) {
  state_.identity = std::move(identity);
  SEMRANK_ASSIGN_OR_RETURN(const std::optional<ResumableState> before,
                           ReadStateFile(path_));
  if (!before.has_value()) return absl::OkStatus();
  SEMRANK_RETURN_IF_ERROR(CheckStateFile(path_, *before, state_.identity));
  counts = CountsOf(before->progress);
  absl::FPrintF(stderr, "%s: continuing after line %s, %s\n", path_,
                GroupDigits(counts.last_line),
                CountText(counts.num_documents(), "document"));
  return absl::OkStatus();
}

absl::Status SavedProgress::Save(const PutCounts& counts) {
  if (path_.empty()) return absl::OkStatus();
  state_.progress = ToJson(counts);
  return WriteStateFile(path_, state_);
}

// No file is no error: a short run ends before its first Save.
absl::Status SavedProgress::Remove() const {
  return path_.empty() ? absl::OkStatus() : RemoveFile(path_);
}

}  // namespace semrank
