// The methods of CatalogService: from the bytes of a request to its response. A
// document and a key count as a text each.
#ifndef SEMRANK_SERVER_REQUESTS_CATALOG_WORK_H_
#define SEMRANK_SERVER_REQUESTS_CATALOG_WORK_H_

#include <cstdint>
#include <memory>

#include "server/requests/request_run.h"

namespace semrank {

std::unique_ptr<RequestWork> MakePutWork(const ServerParts& parts);
// One message of a PutDocumentsStream. `num_before` counts the documents of the
// stream's messages before this one; the work adds its own.
std::unique_ptr<RequestWork> MakeStreamedPutWork(const ServerParts& parts,
                                                 std::uint64_t& num_before);
std::unique_ptr<RequestWork> MakeGetWork(const ServerParts& parts);
std::unique_ptr<RequestWork> MakeDeleteWork(const ServerParts& parts);
// Its size is what the catalog's scan costs (CatalogSearcher). Excluded keys
// are bounded like texts and cost nothing.
std::unique_ptr<RequestWork> MakeSearchWork(const ServerParts& parts);

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_CATALOG_WORK_H_
