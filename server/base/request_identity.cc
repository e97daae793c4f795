#include "server/base/request_identity.h"

#include <algorithm>
#include <cstdint>
#include <random>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"

namespace semrank {
namespace {

constexpr std::size_t kMaxRequestIdBytes = 128;

// Only visible ASCII is allowed: a blank would end the field of a log line, and
// a line break or an escape sequence could forge log lines.
bool IsRequestId(std::string_view text) {
  return !text.empty() && text.size() <= kMaxRequestIdBytes &&
         std::ranges::all_of(
             text, [](unsigned char c) { return absl::ascii_isgraph(c); });
}

bool IsLowerHex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// W3C Trace Context, section 3.2:
// version-trace-parent-flags: 2, 32, 16 and 2 hex digits. The ids are not all
// zeros, the version is not ff; a later version may append fields.
bool IsTraceparent(std::string_view text) {
  constexpr std::size_t kBytes = 55;
  if (text.size() < kBytes || text[2] != '-' || text[35] != '-' ||
      text[52] != '-') {
    return false;
  }
  const std::string_view version = text.substr(0, 2);
  const std::string_view trace = text.substr(3, 32);
  const std::string_view parent = text.substr(36, 16);
  const std::string_view rest = text.substr(kBytes);
  const auto is_zero = [](std::string_view id) {
    return id.find_first_not_of('0') == std::string_view::npos;
  };
  return IsLowerHex(version) && IsLowerHex(trace) && IsLowerHex(parent) &&
         IsLowerHex(text.substr(53, 2)) && version != "ff" && !is_zero(trace) &&
         !is_zero(parent) &&
         // Version 00 has exactly 55 bytes; parsers must accept longer ones of
         // later versions if a dash follows.
         (rest.empty() ||
          (version != "00" && rest[0] == '-' && IsRequestId(rest) &&
           rest.size() <= kMaxRequestIdBytes));
}

// The id only distinguishes requests; it is not a secret.
std::string RandomId() {
  // Each thread has a generator, so that no call needs a lock.
  thread_local std::mt19937_64 random{std::random_device()()};
  const std::uint64_t bits[] = {random(), random()};
  return absl::BytesToHexString(
      {reinterpret_cast<const char*>(bits), sizeof(bits)});
}

}  // namespace

RequestIdentity MakeRequestIdentity(std::string_view request_id,
                                    std::string_view traceparent) {
  RequestIdentity identity;
  identity.request_id =
      IsRequestId(request_id) ? std::string(request_id) : RandomId();
  if (IsTraceparent(traceparent)) identity.traceparent = traceparent;
  return identity;
}

}  // namespace semrank
