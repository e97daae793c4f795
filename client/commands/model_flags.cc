#include "client/commands/model_flags.h"

#include <cstdint>
#include <string>

#include "absl/flags/flag.h"

ABSL_FLAG(std::string, model, "",
          "Name of the model. Empty = the server's default model.");
ABSL_FLAG(std::int64_t, model_version, 0,
          "Version of the model. 0 = the current one.");

namespace semrank {

v1::ModelRef ModelFromFlags() {
  v1::ModelRef model;
  model.set_name(absl::GetFlag(FLAGS_model));
  model.set_version(absl::GetFlag(FLAGS_model_version));
  return model;
}

}  // namespace semrank
