// CatalogService's methods that read or delete documents (put_work.h puts
// them): from the bytes of a request to its response. A key counts as a text.
#ifndef SEMRANK_SERVER_REQUESTS_CATALOG_WORK_H_
#define SEMRANK_SERVER_REQUESTS_CATALOG_WORK_H_

#include <memory>

#include "server/requests/request_run.h"

namespace semrank {

std::unique_ptr<RequestWork> MakeGetWork(const ServerParts& parts);
std::unique_ptr<RequestWork> MakeDeleteWork(const ServerParts& parts);
// Its size is what the catalog's scan costs (CatalogSearcher). Excluded keys
// are bounded like texts and cost nothing.
std::unique_ptr<RequestWork> MakeSearchWork(const ServerParts& parts);

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_CATALOG_WORK_H_
