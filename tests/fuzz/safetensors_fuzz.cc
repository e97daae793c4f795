// Any bytes as a weight file: refused, or tensors that lie inside the file one
// after another.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "model/format/safetensors.h"
#include "tests/fuzz/fuzz_check.h"

namespace semrank {
namespace {

// Every byte of the data belongs to exactly one tensor.
void CheckTensors(const std::map<std::string, TensorView>& tensors,
                  std::string_view content) {
  std::uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, content.data(), sizeof(header_bytes));
  const std::string_view data =
      content.substr(sizeof(header_bytes) + header_bytes);
  std::string claimed(data.size(), 0);
  for (const auto& [name, tensor] : tensors) {
    FUZZ_CHECK(name == tensor.name);
    std::size_t bytes = sizeof(float);
    for (const std::int64_t size : tensor.shape) {
      FUZZ_CHECK(size >= 0);
      bytes *= static_cast<std::size_t>(size);
    }
    const auto begin = static_cast<std::size_t>(
        reinterpret_cast<const char*>(tensor.data) - data.data());
    FUZZ_CHECK(begin <= data.size() && bytes <= data.size() - begin);
    for (std::size_t i = begin; i < begin + bytes; ++i) {
      FUZZ_CHECK(claimed[i]++ == 0);
    }
  }
  FUZZ_CHECK(claimed == std::string(data.size(), 1));
}

}  // namespace
}  // namespace semrank

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  // The copy is aligned, and has exactly this size for AddressSanitizer.
  const std::unique_ptr<char[]> copy(new char[size]);
  if (size > 0) std::memcpy(copy.get(), data, size);
  const std::string_view content(copy.get(), size);
  const auto tensors = semrank::ParseSafetensors(content, "fuzz");
  if (tensors.ok()) {
    semrank::CheckTensors(*tensors, content);
  } else {
    FUZZ_CHECK(absl::IsDataLoss(tensors.status()));
  }
  return 0;
}
