// Puts a file of documents, of any size, into a server's catalog.
//
//   Resume   with a state file, the same call continues after an interrupted
//            one, at most one block (document_reader.h) behind; documents that
//            are put again replace themselves. The state file is removed when
//            all are put.
//   Refused  documents that the server refuses are reported on standard error
//            and counted; the others are put.
//   Memory   a block.
//   Progress on standard error.
#ifndef SEMRANK_CLIENT_BULK_PUT_FILE_H_
#define SEMRANK_CLIENT_BULK_PUT_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "client/bulk/document_reader.h"
#include "client/lib/catalog_client.h"

namespace semrank {

struct PutFileOptions {
  std::string documents;  // a file, or "-"
  DocumentReaderOptions reader;
  std::string state;    // the state file; empty = none
  std::string address;  // of the server; a state file belongs to one
};

// Of all runs that the state file continues.
struct PutCounts {
  std::int64_t num_created = 0;
  std::int64_t num_replaced = 0;
  std::int64_t num_refused = 0;
  std::int64_t num_bad_lines = 0;
  // The server has responded up to this line.
  std::int64_t last_line = 0;

  std::int64_t num_documents() const {
    return num_created + num_replaced + num_refused;
  }
};

// `counts` is valid also after an error. FailedPrecondition if the state file
// is that of other documents, options or another server. Else the errors of the
// reader and of the client.
absl::Status PutFile(CatalogClient& client, const PutFileOptions& options,
                     PutCounts& counts);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_BULK_PUT_FILE_H_
