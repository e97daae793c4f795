#include "model/base/random_id.h"

#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <utility>

#include "absl/strings/escaping.h"

namespace semrank {
namespace {

constexpr std::size_t kIdBytes = 16;
// The most that one call of getentropy returns.
constexpr std::size_t kReserveBytes = 256;

}  // namespace

void FillWithRandomBytes(std::span<unsigned char> bytes) {
  // Fails only on kernels that are older than the call. A key or an id that can
  // be guessed is worse than a crash.
  if (getentropy(bytes.data(), bytes.size()) != 0) std::abort();
}

std::string MakeRandomId() {
  // A call of the kernel takes longer than the rest, however few bytes
  // it returns.
  thread_local std::array<unsigned char, kReserveBytes> reserve;
  thread_local std::size_t next = reserve.size();
  if (next == reserve.size()) {
    FillWithRandomBytes(reserve);
    next = 0;
  }
  const unsigned char* const bytes =
      reserve.data() + std::exchange(next, next + kIdBytes);
  return absl::WebSafeBase64Escape(
      absl::string_view(reinterpret_cast<const char*>(bytes), kIdBytes));
}

}  // namespace semrank
