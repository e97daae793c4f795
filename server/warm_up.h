// Embeds the titles of --warm_catalog before the server is ready.
#ifndef SEMRANK_SERVER_WARM_UP_H_
#define SEMRANK_SERVER_WARM_UP_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "server/models/model_store.h"
#include "server/vectors/embedding_engine.h"

namespace semrank {

// Embeds the titles of `path`, a file of documents (document_reader.h), with
// every current model, on all processors, so that the first
// requests find them in memory. Logs its progress. Errors are those of
// DocumentReader, and InvalidArgument if there is no title. It calls
// `cancelled` before each block of titles; true ends it with a Cancelled error.
absl::Status WarmUp(const std::string& path, const ModelStore& models,
                    const EmbeddingEngine& engine,
                    const std::function<bool()>& cancelled);

}  // namespace semrank

#endif  // SEMRANK_SERVER_WARM_UP_H_
