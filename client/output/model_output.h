// A model as people and programs read it.
#ifndef SEMRANK_CLIENT_OUTPUT_MODEL_OUTPUT_H_
#define SEMRANK_CLIENT_OUTPUT_MODEL_OUTPUT_H_

#include <vector>

#include "client/output/table.h"
#include "semrank/v1/model_service.pb.h"

namespace semrank {

// Rows (what, value): identity, state, architecture, features, training.
// What is not known has no row.
Table ModelTable(const v1::Model& model);

// A row for each: model, version, state, when it was loaded, why it failed.
Table ModelListTable(const std::vector<v1::Model>& models);

// Rows (what, value): what is current now, and what was before.
Table ReloadTable(const v1::ReloadModelResponse& reloaded);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_OUTPUT_MODEL_OUTPUT_H_
