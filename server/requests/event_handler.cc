#include "semrank/v1/event_service.pb.h"
#include "server/base/errors.h"
#include "server/requests/handlers.h"

namespace semrank {
namespace {

class ReportHandler final : public HandlerOf<v1::ReportEventsResponse> {
 public:
  using HandlerOf::HandlerOf;

  absl::StatusOr<RequestSize> Read(std::string_view /*bytes*/) override {
    return MakeError(absl::StatusCode::kFailedPrecondition, "EVENTS_DISABLED",
                     "the server keeps no events (--events)",
                     {{"flag", "events"}});
  }
  absl::StatusOr<Progress> RunSlice(const RequestRun& /*run*/) override {
    return Progress::kDone;
  }
};

}  // namespace

std::unique_ptr<RequestHandler> MakeReportEventsHandler(
    const ServerParts& parts) {
  return std::make_unique<ReportHandler>(parts);
}

}  // namespace semrank
