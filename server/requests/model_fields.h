// What the server knows of its models, as messages.
#ifndef SEMRANK_SERVER_REQUESTS_MODEL_FIELDS_H_
#define SEMRANK_SERVER_REQUESTS_MODEL_FIELDS_H_

#include <span>

#include "absl/status/statusor.h"
#include "semrank/v1/model_service.pb.h"
#include "server/base/limits.h"
#include "server/models/model_slot.h"

namespace semrank {

void DescribeModel(const ModelStatus& status, v1::Model& model);

// The page of `models`, sorted as List gives them, that `list` asks for.
// InvalidArgument for a bad size or token.
absl::Status FillPage(std::span<const ModelStatus> models,
                      const v1::ListModelsRequest& list,
                      v1::ListModelsResponse& page);

// `max_catalog_documents` is not in `limits`: only the catalog needs it.
void DescribeLimits(const Limits& limits, std::size_t max_catalog_documents,
                    v1::Limits& message);

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_MODEL_FIELDS_H_
