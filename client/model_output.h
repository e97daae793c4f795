// A model as people and programs read it.
#ifndef SEMRANK_CLIENT_MODEL_OUTPUT_H_
#define SEMRANK_CLIENT_MODEL_OUTPUT_H_

#include "client/table.h"
#include "semrank/v1/model_service.pb.h"

namespace semrank {

// Rows (what, value): identity, state, architecture, features, training.
// What is not known has no row.
Table ModelTable(const v1::Model& model);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_MODEL_OUTPUT_H_
