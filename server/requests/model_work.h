// The methods of ModelService: from the bytes of a request to its response.
// They have no texts and take no permits.
#ifndef SEMRANK_SERVER_REQUESTS_MODEL_WORK_H_
#define SEMRANK_SERVER_REQUESTS_MODEL_WORK_H_

#include <memory>

#include "server/requests/request_run.h"

namespace semrank {

// Those that only read are answered while the first models load, too.
std::unique_ptr<RequestWork> MakeGetModelWork(const ServerParts& parts);
std::unique_ptr<RequestWork> MakeListModelsWork(const ServerParts& parts);
std::unique_ptr<RequestWork> MakeGetLimitsWork(const ServerParts& parts);
// FAILED_PRECONDITION ADMIN_DISABLED unless parts.admin_rpcs.
std::unique_ptr<RequestWork> MakeReloadModelWork(const ServerParts& parts);

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_MODEL_WORK_H_
