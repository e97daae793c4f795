// Which model is meant: flags of the commands that use one.
#ifndef SEMRANK_CLIENT_COMMANDS_MODEL_FLAGS_H_
#define SEMRANK_CLIENT_COMMANDS_MODEL_FLAGS_H_

#include "semrank/v1/common.pb.h"

namespace semrank {

// --model and --model_version.
v1::ModelRef ModelFromFlags();

}  // namespace semrank

#endif  // SEMRANK_CLIENT_COMMANDS_MODEL_FLAGS_H_
