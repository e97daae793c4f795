// The works of the methods without a type of their own: from the bytes of a
// request to its response. (rank_work.h and embed_work.h have the others.)
#ifndef SEMRANK_SERVER_REQUESTS_METHOD_WORKS_H_
#define SEMRANK_SERVER_REQUESTS_METHOD_WORKS_H_

#include <cstdint>
#include <memory>

#include "server/requests/request_run.h"

namespace semrank {

// RankingService. Its size is the query, the title and each of their words. To
// count the words it normalises the two texts, which are within
// --max_text_bytes.
std::unique_ptr<RequestWork> MakeExplainWork(const ServerParts& parts);

// CatalogService. A document or a key counts as a text. Errors of puts are
// those of CatalogWriter.
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

// ModelService. They have no texts and take no permits; those that only read
// are answered while the first models load, too.
std::unique_ptr<RequestWork> MakeGetModelWork(const ServerParts& parts);
std::unique_ptr<RequestWork> MakeListModelsWork(const ServerParts& parts);
std::unique_ptr<RequestWork> MakeGetLimitsWork(const ServerParts& parts);
// FAILED_PRECONDITION ADMIN_DISABLED unless parts.admin_rpcs.
std::unique_ptr<RequestWork> MakeReloadModelWork(const ServerParts& parts);

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_METHOD_WORKS_H_
