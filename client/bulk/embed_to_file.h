// Embeds a file of texts, of any size, into a file of vectors.
//
//   Rows     in the order of the texts. A text without an id has the number of
//            its line for one. A text that cannot be embedded is named on
//            standard error and has no row.
//   Model    one for the whole file, also over several runs.
//   Resume   the same call goes on where an earlier one was killed, and makes
//            the same bytes (resumable_file.h). Not of a pipe, which cannot be
//            read again: that begins anew.
//   Memory   of some twenty thousand texts and their vectors.
//   Progress on standard error.
#ifndef SEMRANK_CLIENT_BULK_EMBED_TO_FILE_H_
#define SEMRANK_CLIENT_BULK_EMBED_TO_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "client/bulk/embedding_file.h"
#include "client/bulk/vector_source.h"
#include "client/input/shard.h"

namespace semrank {

struct EmbedToFileOptions {
  std::string texts;   // a file, or "-"
  std::string output;  // what comes of it
  EmbeddingFileFormat format = EmbeddingFileFormat::kNpy;
  JsonlForm jsonl = {};  // for EmbeddingFileFormat::kJsonl
  Shard shard = {};
  v1::Side side = v1::SIDE_DOCUMENT;
  // Version 0 = the current one, or that of the file begun before.
  v1::ModelRef model = {};
  std::int64_t max_bad_lines = 0;
};

// FailedPrecondition when the file was begun with other texts, another model or
// other options; InvalidArgument when it is whole but for some texts that could
// not be embedded; else the source's and the system's errors.
absl::Status EmbedToFile(VectorSource& source,
                         const EmbedToFileOptions& options);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_BULK_EMBED_TO_FILE_H_
