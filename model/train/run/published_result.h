// Whether a run's result was published before.
#ifndef SEMRANK_MODEL_TRAIN_RUN_PUBLISHED_RESULT_H_
#define SEMRANK_MODEL_TRAIN_RUN_PUBLISHED_RESULT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "model/format/model_bundle.h"

namespace semrank {

// The newest version in `model_dir` if it is undamaged and has the bundle's
// weights, bit for bit, and its configuration but for the time; else nothing.
std::optional<std::int64_t> FindPublished(const std::string& model_dir,
                                          const ModelBundle& bundle);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_RUN_PUBLISHED_RESULT_H_
