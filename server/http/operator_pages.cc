#include "server/http/operator_pages.h"

namespace semrank {

HttpPages OperatorPages(const Lifecycle* lifecycle, const Metrics* metrics) {
  HttpPages pages;
  pages["/metrics"] = [metrics]() -> HttpResponse {
    return {.content_type = "text/plain; version=0.0.4; charset=utf-8",
            .body = metrics->Render()};
  };
  pages["/healthz"] = []() -> HttpResponse { return {.body = "ok\n"}; };
  pages["/readyz"] = [lifecycle]() -> HttpResponse {
    const Lifecycle::State state = lifecycle->state();
    return {.status = state == Lifecycle::State::kServing ? 200 : 503,
            .body = std::string(Lifecycle::Description(state)) + "\n"};
  };
  return pages;
}

}  // namespace semrank
