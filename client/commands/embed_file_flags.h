// A file of vectors to write: flags of the embed command.
#ifndef SEMRANK_CLIENT_COMMANDS_EMBED_FILE_FLAGS_H_
#define SEMRANK_CLIENT_COMMANDS_EMBED_FILE_FLAGS_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "client/bulk/embed_to_file.h"

namespace semrank {

// --output, --format, --shard, --jsonl_style and names, --model,
// --model_version and --max_bad_lines; nothing if --output names no file.
// FlagError where they do not go together.
absl::StatusOr<std::optional<EmbedToFileOptions>> EmbedToFileFromFlags(
    v1::Side side, const std::string& texts);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_COMMANDS_EMBED_FILE_FLAGS_H_
