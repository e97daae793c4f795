#include "client/commands/query_flag.h"

#include "absl/flags/flag.h"
#include "client/input/unicode.h"
#include "model/cli/program.h"

ABSL_FLAG(std::string, query, "",
          "What to rank or search for, as a user would type it.");

namespace semrank {

absl::StatusOr<std::string> QueryFromFlag() {
  const std::string query = absl::GetFlag(FLAGS_query);
  if (query.empty()) return FlagError("query", query, "what to rank for?");
  if (!IsValidUtf8(query)) {
    return FlagError("query", EscapeControls(query), "not valid UTF-8");
  }
  return query;
}

}  // namespace semrank
