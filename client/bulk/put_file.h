// Puts the documents of a file of any size into the catalog.
//
//   Blocks   each goes over one stream, whose responses come in the order of
//            the documents, so a count of lines says how far the run came.
//   Resume   the state file keeps the counts after each block, so that the same
//            call continues after an interruption. It puts at most one block
//            again, and these documents replace themselves.
//   Memory   that of a block.
//   Progress and refused documents are shown on standard error.
#ifndef SEMRANK_CLIENT_BULK_PUT_FILE_H_
#define SEMRANK_CLIENT_BULK_PUT_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "client/lib/catalog_client.h"
#include "model/data/document_reader.h"

namespace semrank {

struct PutFileOptions {
  std::string documents = {};  // a file, or "-"
  DocumentReaderOptions reader = {};
  std::string state = {};    // the state file; empty = none
  std::string address = {};  // of the server: a state file belongs to one
};

// What became of the documents, in all runs that the state file continues.
struct PutCounts {
  std::int64_t num_created = 0;
  std::int64_t num_replaced = 0;
  std::int64_t num_refused = 0;
  std::int64_t num_bad_lines = 0;
  // The server has responded up to this line.
  std::int64_t last_line = 0;
  // Lines that follow an error of the file. The state file does not keep them,
  // since the run that continues reads them.
  std::int64_t num_unread_lines = 0;

  std::int64_t num_skipped_lines() const {
    return num_bad_lines + num_unread_lines;
  }
  std::int64_t num_documents() const {
    return num_created + num_replaced + num_refused;
  }
};

// `counts` is valid also after an error. A signal ends the call with Cancelled,
// and the message says whether the same call continues. FailedPrecondition if
// an interrupted run had other documents, options or another server. Else the
// errors of the files and of the server.
absl::Status PutFile(CatalogClient& client, const PutFileOptions& options,
                     PutCounts& counts);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_BULK_PUT_FILE_H_
