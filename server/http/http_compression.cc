#include "server/http/http_compression.h"

#include <zlib.h>

#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "model/base/strings.h"

namespace semrank {
namespace {

// Smaller bodies fit into one packet anyway.
constexpr std::size_t kMinBytes = 1'024;

// Returns 0.5 for "gzip;q=0.5", and 1 without a q.
double Quality(absl::string_view coding) {
  const std::size_t q = coding.find("q=");
  double quality = 1;
  if (q == absl::string_view::npos ||
      !absl::SimpleAtod(coding.substr(q + 2), &quality)) {
    return 1;
  }
  return quality;
}

}  // namespace

// RFC 9110, 12.5.3: `*` stands for the codings that are not named.
bool AcceptsGzip(std::string_view accept_encoding) {
  bool accepts_others = false;
  for (const absl::string_view part :
       absl::StrSplit(ToAbsl(accept_encoding), ',')) {
    const absl::string_view coding = absl::StripAsciiWhitespace(part);
    const absl::string_view name =
        absl::StripAsciiWhitespace(coding.substr(0, coding.find(';')));
    if (absl::EqualsIgnoreCase(name, "gzip")) return Quality(coding) > 0;
    if (name == "*") accepts_others = Quality(coding) > 0;
  }
  return accepts_others;
}

void Compress(HttpResponse& response) {
  // The header is added even if nothing is compressed: another client may get
  // another response.
  response.headers.emplace_back("Vary", "Accept-Encoding");
  const std::string& body = response.body;
  if (body.size() < kMinBytes) return;
  z_stream stream = {};
  constexpr int kGzipFormat = 15 + 16;  // the largest window, gzip's header
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzipFormat,
                   MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
    return;
  }
  // There is room for a smaller body only: a larger one is not worth sending.
  std::string compressed(body.size() - 1, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data()));
  stream.avail_in = static_cast<uInt>(body.size());
  stream.next_out = reinterpret_cast<Bytef*>(compressed.data());
  stream.avail_out = static_cast<uInt>(compressed.size());
  const bool done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  compressed.resize(stream.total_out);
  deflateEnd(&stream);
  if (!done) return;
  response.body = std::move(compressed);
  response.headers.emplace_back("Content-Encoding", "gzip");
}

}  // namespace semrank
