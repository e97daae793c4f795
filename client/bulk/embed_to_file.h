// Embeds a file of texts, of any size, into a file of vectors.
//
//   Rows     have the order of the texts. The id of a text without one is the
//            number of its line. A text that cannot be embedded is reported on
//            standard error and has no row; so is one whose id has a line
//            break, if the ids have a file of their own.
//   Model    one version embeds the whole file, also across several runs.
//   Resume   the same call continues after an interrupted one and produces the
//            same bytes (resumable_file.h). A pipe cannot be read again, so it
//            starts over. After SIGINT or SIGTERM (interrupt.h) what is
//            finished is saved at once.
//   Memory   about 40,000 texts, and the vectors of 20,000.
//   Progress is shown on standard error.
#ifndef SEMRANK_CLIENT_BULK_EMBED_TO_FILE_H_
#define SEMRANK_CLIENT_BULK_EMBED_TO_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "client/bulk/embedding_file.h"
#include "client/bulk/vector_source.h"
#include "model/data/shard.h"

namespace semrank {

struct EmbedToFileOptions {
  std::string texts = {};   // a file, or "-"
  std::string output = {};  // the file of vectors
  EmbeddingFileFormat format = EmbeddingFileFormat::kNpy;
  JsonlForm jsonl = {};  // for EmbeddingFileFormat::kJsonl
  Shard shard = {};
  v1::Side side = v1::SIDE_DOCUMENT;
  // Version 0 = the current one, or that of the interrupted run.
  v1::ModelRef model = {};
  BadLineLimit max_bad_lines = 0;
  // The limit of a source that is a model directory; it must not change between
  // two runs. 0 = the source is a server, which has its own.
  std::int64_t max_text_bytes = 0;
};

// A signal ends the call with Cancelled, and the message says what is saved.
// FailedPrecondition if an interrupted run had other texts, options or another
// model. InvalidArgument if the file is complete but some texts could not be
// embedded, or if there are no texts: then `output` stays as it was. Else the
// errors of the source and of the system.
absl::Status EmbedToFile(VectorSource& source,
                         const EmbedToFileOptions& options);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_BULK_EMBED_TO_FILE_H_
