#include "server/pages/operator_pages.h"

#include <string>

namespace semrank {

HttpPages OperatorPages(const Lifecycle* lifecycle, const Metrics* metrics) {
  HttpPages pages;
  pages["/metrics"] = [metrics]() -> HttpResponse {
    return {.content_type = "text/plain; version=0.0.4; charset=utf-8",
            .body = metrics->Render()};
  };
  // 200 to the end: a liveness probe must not restart a server that loads or
  // drains.
  pages["/healthz"] = []() -> HttpResponse { return {.body = "ok\n"}; };
  const HttpPage ready = [lifecycle]() -> HttpResponse {
    const Lifecycle::State state = lifecycle->state();
    return {.status = state == Lifecycle::State::kServing ? 200 : 503,
            .body = std::string(Lifecycle::Description(state)) + "\n"};
  };
  pages["/readyz"] = ready;
  pages["/health"] = ready;
  return pages;
}

}  // namespace semrank
