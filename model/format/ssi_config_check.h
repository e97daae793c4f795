// The rules of FORMAT.md's table for SSI models alone.
//
//   Private to model/format.
#ifndef SEMRANK_MODEL_FORMAT_SSI_CONFIG_CHECK_H_
#define SEMRANK_MODEL_FORMAT_SSI_CONFIG_CHECK_H_

#include "absl/status/status.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {

// The tower is SSI and the features have passed their check. As
// CheckModelConfig.
absl::Status CheckSsiConfig(const v1::ModelConfig& config);

}  // namespace semrank

#endif  // SEMRANK_MODEL_FORMAT_SSI_CONFIG_CHECK_H_
