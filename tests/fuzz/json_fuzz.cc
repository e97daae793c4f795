// Any bytes as the body of each path of the JSON API: an answer in JSON, never
// a 500. The first line names the path; if there is none of that name its first
// byte chooses one.
#include <cstddef>
#include <cstdint>
#include <future>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "server/api/json_api.h"
#include "tests/fuzz/fuzz_server.h"

namespace semrank {
namespace {

constexpr std::int64_t kMaxBodyBytes = 100'000;

HttpResponse Answer(const HttpCall& call, const HttpRequest& request) {
  if (call.handle) {
    const auto answer = std::make_shared<std::promise<HttpResponse>>();
    call.handle(request, absl::InfiniteDuration(),
                [answer](std::optional<HttpResponse> response) {
                  answer->set_value(*std::move(response));
                });
    return answer->get_future().get();
  }
  const auto stream = call.open_stream(request);
  const std::size_t half = request.body.size() / 2;
  auto response = stream->Take(request.body.substr(0, half), /*last=*/false);
  if (!response.has_value()) {
    response = stream->Take(request.body.substr(half), /*last=*/true);
  }
  FUZZ_CHECK(response.has_value());
  return *std::move(response);
}

}  // namespace
}  // namespace semrank

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace semrank;
  static Server& server = MakeFuzzServer();
  static const HttpCalls& calls = *new HttpCalls(
      JsonApi(server.parts(), {kMaxBodyBytes, absl::OkStatus()}));
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t end = text.find('\n');
  auto chosen = calls.find(std::string(text.substr(0, end)));
  if (chosen == calls.end()) {
    chosen = std::next(calls.begin(),
                       static_cast<std::ptrdiff_t>(data[0] % calls.size()));
  }
  const auto& [path, call] = *chosen;
  if (!call.handle && !call.open_stream) return 0;
  const HttpResponse response = Answer(
      call,
      {.path = path,
       .body = std::string(end == text.npos ? "" : text.substr(end + 1))});
  FUZZ_CHECK(response.status != 500);
  FUZZ_CHECK(nlohmann::json::accept(response.body) ||
             !call.handle);  // a stream answers in JSON lines
  return 0;
}
