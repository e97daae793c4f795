// Prints what a server says about its models as tables.
#ifndef SEMRANK_CLIENT_OUTPUT_MODEL_OUTPUT_H_
#define SEMRANK_CLIENT_OUTPUT_MODEL_OUTPUT_H_

#include <vector>

#include "client/output/table.h"
#include "semrank/v1/model_service.pb.h"

namespace semrank {

// Rows (name, value): identity, state, architecture, features, training.
// Unknown facts have no row.
Table ModelTable(const v1::Model& model);

// Columns model, version, state, load time and failure; a row per version.
Table ModelListTable(const std::vector<v1::Model>& models);

// Rows (name, value): the current version and the one before.
Table ReloadTable(const v1::ReloadModelResponse& reloaded);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_OUTPUT_MODEL_OUTPUT_H_
