// PutDocuments and PutDocumentsStream: from the bytes of a request to its
// response. A document counts as a text. Errors are those of CatalogWriter.
#ifndef SEMRANK_SERVER_REQUESTS_PUT_WORK_H_
#define SEMRANK_SERVER_REQUESTS_PUT_WORK_H_

#include <cstdint>
#include <memory>

#include "server/requests/request_run.h"

namespace semrank {

std::unique_ptr<RequestWork> MakePutWork(const ServerParts& parts);
// One message of a PutDocumentsStream. `num_before` counts the documents of the
// stream's messages before this one; the work adds its own.
std::unique_ptr<RequestWork> MakeStreamedPutWork(const ServerParts& parts,
                                                 std::uint64_t& num_before);

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_PUT_WORK_H_
