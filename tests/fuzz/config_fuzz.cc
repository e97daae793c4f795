// Any bytes as config.json: refused, or a configuration that is written and
// read back as it is.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "model/format/model_config.h"
#include "tests/fuzz/fuzz_check.h"

namespace semrank {
namespace {

void CheckConfig(std::string_view json) {
  const absl::StatusOr<v1::ModelConfig> config = ParseModelConfig(json);
  if (!config.ok()) {
    FUZZ_CHECK(!config.status().message().empty());
    return;
  }
  const absl::StatusOr<std::string> written = FormatModelConfig(*config);
  FUZZ_CHECK(written.ok());
  const absl::StatusOr<v1::ModelConfig> again = ParseModelConfig(*written);
  FUZZ_CHECK(again.ok());
  FUZZ_CHECK(again->SerializeAsString() == config->SerializeAsString());
  if (!CheckModelConfig(*config).ok()) return;
  for (const ExpectedTensor& tensor : ExpectedTensors(*config)) {
    for (const std::int64_t size : tensor.shape) FUZZ_CHECK(size >= 0);
  }
  FUZZ_CHECK(!ExpectedFiles(*config).empty());
}

}  // namespace
}  // namespace semrank

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  semrank::CheckConfig({reinterpret_cast<const char*>(data), size});
  return 0;
}
