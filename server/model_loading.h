// The models of the flags: found at the start, and told about in the log.
#ifndef SEMRANK_SERVER_MODEL_LOADING_H_
#define SEMRANK_SERVER_MODEL_LOADING_H_

#include <vector>

#include "absl/status/status.h"
#include "server/model_options.h"
#include "server/models/model_store.h"
#include "server/stop.h"

namespace semrank {

std::vector<ModelChoice> ModelChoices(const ModelOptions& options);

// One line for each attempt to load.
void LogModelLoad(const ModelLoad& load);

// Loads every model. With options.wait_for_model tries again until all are
// there. Cancelled when it is to stop, which is looked at before each model.
absl::Status LoadFirstModels(const ModelOptions& options, ModelStore& models,
                             StartSignals& signals);

// What answers under each name now; a name without a model is left out.
std::vector<ServedModelPtr> CurrentModels(const ModelOptions& options,
                                          const ModelStore& models);

}  // namespace semrank

#endif  // SEMRANK_SERVER_MODEL_LOADING_H_
