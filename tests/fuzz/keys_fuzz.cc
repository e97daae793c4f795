// Any bytes as the file of API keys and as those of certificates: refused, or
// keys that no other key opens.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "server/auth/access_control.h"
#include "server/auth/tls_files.h"
#include "tests/fuzz/fuzz_check.h"
#include "tests/fuzz/memory_file.h"

namespace semrank {
namespace {

void CheckKeys(std::string_view content) {
  const absl::StatusOr<ApiKeys> keys = ApiKeys::Parse(content);
  if (!keys.ok()) {
    FUZZ_CHECK(absl::IsInvalidArgument(keys.status()));
    return;
  }
  FUZZ_CHECK(keys->size() > 0);
  // No input holds the SHA-256 of itself.
  for (const std::string_view authorization :
       {std::string_view(), std::string_view("Bearer "), content}) {
    FUZZ_CHECK(!keys->Check(authorization, Role::kRead).ok());
  }
}

void CheckCertificates(std::string_view content) {
  static const MemoryFile file;
  file.Write(content);
  const absl::StatusOr<TlsContent> files =
      ReadTlsFiles({file.path(), file.path(), file.path()});
  if (files.ok()) FUZZ_CHECK(files->cert == content);
}

}  // namespace
}  // namespace semrank

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const std::string_view content(reinterpret_cast<const char*>(data), size);
  semrank::CheckKeys(content);
  semrank::CheckCertificates(content);
  return 0;
}
