// Explain: from the bytes of the request to its response.
#ifndef SEMRANK_SERVER_REQUESTS_EXPLAIN_WORK_H_
#define SEMRANK_SERVER_REQUESTS_EXPLAIN_WORK_H_

#include <memory>

#include "server/requests/request_run.h"

namespace semrank {

// Its size is the query, the title and each of their words. To count the words
// it normalises the two texts, which are within --max_text_bytes.
std::unique_ptr<RequestWork> MakeExplainWork(const ServerParts& parts);

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_EXPLAIN_WORK_H_
