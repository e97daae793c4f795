#include "server/http/json_call.h"

#include <utility>

#include "absl/time/clock.h"
#include "model/base/status_macros.h"
#include "server/base/metrics.h"
#include "server/http/json_messages.h"

namespace semrank {

JsonCall::JsonCall(const ServerParts& parts, std::unique_ptr<RequestWork> work,
                   ClientLook client)
    : RequestRun(parts, std::move(work)),
      client_(std::move(client)),
      deadline_(absl::Now() + kMaxTime),
      next_look_(absl::Now() + client_.interval),
      done_(std::make_shared<std::promise<absl::Status>>()) {}

absl::StatusOr<std::string> JsonCall::Run(
    const ServerParts& parts, std::unique_ptr<RequestWork> work,
    const google::protobuf::Descriptor& request, std::string_view body,
    ClientLook client) {
  std::string bytes;  // outlives the work, which views it
  JsonCall call(parts, std::move(work), std::move(client));
  std::future<absl::Status> done = call.done_->get_future();
  const absl::Status parsed = JsonToBytes(body, request, bytes);
  if (parsed.ok()) {
    call.Start(bytes);
  } else {
    call.Refuse(parsed);
  }
  const absl::Status status = done.get();
  if (absl::IsCancelled(status) && call.server_ends()) {
    return Lifecycle::DrainingError();
  }
  SEMRANK_RETURN_IF_ERROR(status);
  return std::move(call.json_);
}

bool JsonCall::client_left() const {
  if (client_.left == nullptr || absl::Now() < next_look_) return false;
  const bool left = client_.left();
  next_look_ = absl::Now() + client_.interval;
  return left;
}

absl::Status JsonCall::SerializeResponse(
    const google::protobuf::MessageLite& response) {
  StageClock clock;
  // Every response of the API is a full message; "lite" ones know no JSON.
  SEMRANK_ASSIGN_OR_RETURN(
      json_, ToJson(dynamic_cast<const google::protobuf::Message&>(response)));
  parts().metrics->RecordStage(Stage::kSerialize, clock.Lap());
  return absl::OkStatus();
}

void JsonCall::Done(const absl::Status& status) {
  const std::shared_ptr<std::promise<absl::Status>> done = done_;
  done->set_value(status);
}

}  // namespace semrank
