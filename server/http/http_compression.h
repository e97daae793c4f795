// Compresses responses for clients that accept gzip.
#ifndef SEMRANK_SERVER_HTTP_HTTP_COMPRESSION_H_
#define SEMRANK_SERVER_HTTP_HTTP_COMPRESSION_H_

#include <string_view>

#include "server/http/http_routes.h"

namespace semrank {

// Whether an Accept-Encoding header names gzip, or else *, without q=0.
bool AcceptsGzip(std::string_view accept_encoding);

// Compresses the body, by zlib's fastest level, and says so in the headers;
// bodies under 1 KiB and ones that do not get smaller stay as they are.
void Compress(HttpResponse& response);

}  // namespace semrank

#endif  // SEMRANK_SERVER_HTTP_HTTP_COMPRESSION_H_
