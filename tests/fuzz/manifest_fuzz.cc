// Any bytes as MANIFEST.json: refused, or known names of files that are written
// and read back as they are.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "model/format/manifest.h"
#include "tests/fuzz/fuzz_check.h"

namespace semrank {
namespace {

void CheckManifest(std::string_view json) {
  const absl::StatusOr<Manifest> manifest = ParseManifest(json);
  if (!manifest.ok()) return;
  const absl::StatusOr<Manifest> again =
      ParseManifest(FormatManifest(*manifest));
  FUZZ_CHECK(again.ok());
  FUZZ_CHECK(again->format_version == manifest->format_version);
  FUZZ_CHECK(again->files.size() == manifest->files.size());
  for (const auto& [name, facts] : manifest->files) {
    FUZZ_CHECK(name.find('/') == name.npos);
    FUZZ_CHECK(facts.sha256.size() == 64);
    const auto found = again->files.find(name);
    FUZZ_CHECK(found != again->files.end());
    FUZZ_CHECK(found->second.bytes == facts.bytes);
    FUZZ_CHECK(found->second.sha256 == facts.sha256);
  }
}

}  // namespace
}  // namespace semrank

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  semrank::CheckManifest({reinterpret_cast<const char*>(data), size});
  return 0;
}
