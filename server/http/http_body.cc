#include "server/http/http_body.h"

#include <civetweb.h>

#include <array>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "model/base/status_macros.h"
#include "server/base/errors.h"

namespace semrank {
namespace {

absl::Status CheckSize(std::int64_t num_bytes, std::int64_t max_body_bytes) {
  if (num_bytes <= max_body_bytes) return absl::OkStatus();
  return MakeError(
      absl::StatusCode::kResourceExhausted, "MESSAGE_TOO_LARGE",
      absl::StrFormat(
          "the body is over the limit of %d bytes (--max_http_body_bytes)",
          max_body_bytes),
      {{"limit", absl::StrCat(max_body_bytes)},
       {"flag", "max_http_body_bytes"}});
}

absl::Status TooSlow() {
  return MakeError(absl::StatusCode::kDeadlineExceeded, "DEADLINE_EXCEEDED",
                   absl::StrFormat("the body did not come within %s",
                                   absl::FormatDuration(kMaxHttpBodyTime)),
                   {{"limit", absl::FormatDuration(kMaxHttpBodyTime)}});
}

absl::Status CutOff() {
  return MakeError(absl::StatusCode::kCancelled, "CANCELLED",
                   "the body did not come whole");
}

void LetItCome(mg_connection* connection) {
  constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  const char* const expected = mg_get_header(connection, "Expect");
  if (expected != nullptr && absl::EqualsIgnoreCase(expected, "100-continue")) {
    mg_write(connection, kContinue.data(), kContinue.size());
  }
}

}  // namespace

absl::Status ReadHttpBody(mg_connection* connection,
                          std::int64_t max_body_bytes, std::string& body) {
  // -1: not stated, it comes in chunks.
  const std::int64_t stated = mg_get_request_info(connection)->content_length;
  SEMRANK_RETURN_IF_ERROR(CheckSize(stated, max_body_bytes));
  LetItCome(connection);
  const absl::Time limit = absl::Now() + kMaxHttpBodyTime;
  const auto size = [&] { return static_cast<std::int64_t>(body.size()); };
  std::array<char, 16'384> piece;
  while (stated < 0 || size() < stated) {
    const int num_read = mg_read(connection, piece.data(), piece.size());
    if (absl::Now() > limit) return TooSlow();
    if (num_read < 0) return CutOff();
    if (num_read == 0) break;
    body.append(piece.data(), num_read);
    SEMRANK_RETURN_IF_ERROR(CheckSize(size(), max_body_bytes));
  }
  return size() < stated ? CutOff() : absl::OkStatus();
}

}  // namespace semrank
