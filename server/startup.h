// The start: the store is opened, models are loaded, and the titles of
// --warm_catalog are embedded.
#ifndef SEMRANK_SERVER_STARTUP_H_
#define SEMRANK_SERVER_STARTUP_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/metrics.h"
#include "server/models/model_store.h"
#include "server/options.h"
#include "server/stop.h"
#include "server/stores/document_store.h"
#include "server/vectors/embedding_engine.h"
#include "server/vectors/stored_vectors.h"

namespace semrank {

// Null for --store=none. The error of a store that cannot be used, also of a
// Redis that does not answer: without its documents the catalog would be empty,
// and known ids would be unknown.
absl::StatusOr<std::unique_ptr<DocumentStore>> OpenStore(
    const StoreOptions& options);

// The store as a level of document vectors; logs when the store is bypassed and
// when it is used again. Null without a store. `store` and `metrics` must
// outlive it.
std::unique_ptr<StoredVectors> UseStoreForVectors(const StoreOptions& options,
                                                  DocumentStore* store,
                                                  Metrics& metrics);

std::vector<ModelChoice> ModelChoices(const ModelOptions& options);

// Logs one line for each attempt to load a model.
void LogModelLoad(const ModelLoad& load);

// Loads every model; with options.wait_for_model retries until all are there.
// Cancelled once a stop signal arrived, which is checked before each model.
absl::Status LoadFirstModels(const ModelOptions& options, ModelStore& models,
                             Signals& signals);

// Embeds the titles of `path` (doc_id<TAB>title a line, also .gz and .zst) with
// every current model, on all processors, so that the first requests find them
// in memory. Logs its progress. Errors of the file as LineReader's; Cancelled
// once `stop`, which is called before each batch, returns true.
absl::Status WarmUp(const std::string& path, const ModelStore& models,
                    const EmbeddingEngine& engine,
                    const std::function<bool()>& stop);

}  // namespace semrank

#endif  // SEMRANK_SERVER_STARTUP_H_
