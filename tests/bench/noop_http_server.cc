// The least that a call of the HTTP server can cost: the server's own library,
// and a handler that does not look at the body. What POST /v1/rank costs beyond
// it is JSON and ranking (scripts/bench/bench_json.py).
//
//   noop_http_server NUM_CANDIDATES   answers every POST /v1/rank with a
//   ranking
//                                     of that number of candidates; prints
//                                     "noop_http_server ready http=HOST:PORT"
//                                     and serves until it is killed
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>

#include "absl/strings/numbers.h"
#include "semrank/v1/ranking_service.pb.h"
#include "server/api/json_messages.h"
#include "server/http/http_server.h"

namespace semrank {
namespace {

std::string MakeBody(int num_candidates) {
  v1::RankResponse response;
  for (int i = num_candidates; i-- > 0;) {
    response.add_indices(static_cast<std::uint32_t>(i));
    response.add_scores(0.001f * static_cast<float>(i));
  }
  return ToJson(response) + "\n";
}

int Run(int num_candidates) {
  const std::string body = MakeBody(num_candidates);
  HttpCalls calls;
  calls["/v1/rank"] = {
      .max_body_bytes = 1 << 24,
      .admit = [](const HttpRequest&) { return std::nullopt; },
      .refuse =
          [](const HttpRequest&, const HttpRefusal& refusal) {
            return HttpResponse{.status = refusal.http_code};
          },
      .handle =
          [&body](const HttpRequest&, absl::Duration, HttpDone done) {
            std::move(done)(
                HttpResponse{.content_type = "application/json", .body = body});
          }};
  const auto server = HttpServer::Start("127.0.0.1:0", {}, calls);
  if (!server.ok()) return 1;
  std::printf("noop_http_server ready http=%s\n", (*server)->address().c_str());
  std::fflush(stdout);
  pause();
  return 0;
}

}  // namespace
}  // namespace semrank

int main(int argc, char** argv) {
  int num_candidates = 0;
  if (argc != 2 || !absl::SimpleAtoi(argv[1], &num_candidates)) {
    std::fprintf(stderr, "usage: noop_http_server NUM_CANDIDATES\n");
    return 2;
  }
  return semrank::Run(num_candidates);
}
