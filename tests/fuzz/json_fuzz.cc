// Any bytes as the body of each path of the JSON API, which the first byte
// chooses: an answer in JSON, never a 500.
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "server/api/json_api.h"
#include "tests/fuzz/fuzz_server.h"

namespace semrank {
namespace {

constexpr std::int64_t kMaxBodyBytes = 100'000;

HttpResponse Answer(const HttpCall& call, const HttpRequest& request) {
  if (call.handle) return call.handle(request);
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
  const auto call =
      std::next(calls.begin(),
                static_cast<std::ptrdiff_t>(data[0] % calls.size()))
          ->second;
  if (!call.handle && !call.open_stream) return 0;
  const HttpResponse response = Answer(
      call,
      {.body = std::string(reinterpret_cast<const char*>(data) + 1, size - 1)});
  FUZZ_CHECK(response.status != 500);
  FUZZ_CHECK(nlohmann::json::accept(response.body) ||
             !call.handle);  // a stream answers in JSON lines
  return 0;
}
