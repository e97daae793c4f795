// Puts a file of documents, of any size, into the catalog.
//
//   Documents  "doc_id<TAB>title" a line. One that the server refuses is named
//              on standard error; the others are put.
//   Memory     of some twenty thousand documents.
//   Progress   on standard error.
#ifndef SEMRANK_CLIENT_BULK_PUT_FILE_H_
#define SEMRANK_CLIENT_BULK_PUT_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "client/input/text_reader.h"
#include "client/lib/catalog_client.h"

namespace semrank {

struct PutFileOptions {
  std::string documents;  // a file, or "-"
  bool numeric_ids = false;
  Shard shard = {};
  std::int64_t skip_lines = 0;  // at the beginning
  std::int64_t max_bad_lines = 0;
};

struct PutCounts {
  std::int64_t num_created = 0;
  std::int64_t num_replaced = 0;
  std::int64_t num_refused = 0;
  // Up to here the server has answered.
  std::int64_t last_line = 0;

  std::int64_t num_documents() const {
    return num_created + num_replaced + num_refused;
  }
};

// `counts` says what was put, also with an error. UsageError for a line without
// an id, or whose id is no number where it should be.
absl::Status PutFile(CatalogClient& client, const PutFileOptions& options,
                     PutCounts& counts);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_BULK_PUT_FILE_H_
