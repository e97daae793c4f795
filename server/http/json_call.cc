#include "server/http/json_call.h"

#include <utility>

#include "absl/time/clock.h"
#include "model/base/status_macros.h"
#include "server/base/metrics.h"
#include "server/http/json_messages.h"
#include "server/http/json_text_count.h"

namespace semrank {

JsonCall::JsonCall(const RpcEnvironment& environment,
                   std::unique_ptr<RequestWork> work, ClientLook client)
    : RequestRun(environment, std::move(work)),
      client_(std::move(client)),
      deadline_(absl::Now() + kMaxTime),
      next_look_(absl::Now() + client_.interval),
      done_(std::make_shared<std::promise<absl::Status>>()) {}

absl::StatusOr<std::string> JsonCall::Run(
    const RpcEnvironment& environment, std::unique_ptr<RequestWork> work,
    std::unique_ptr<google::protobuf::Message> request, std::string_view body,
    ClientLook client) {
  // They outlive the work, which views them.
  std::deque<std::string> held;
  std::string bytes;
  JsonCall call(environment, std::move(work), std::move(client));
  std::future<absl::Status> done = call.done_->get_future();
  const absl::Status admitted = call.AdmitAndParse(body, *request, held, bytes);
  request.reset();
  if (admitted.ok()) {
    call.StartAdmitted(bytes);
  } else {
    call.Refuse(admitted);
  }
  const absl::Status status = done.get();
  if (absl::IsCancelled(status) && call.server_ends()) {
    return Lifecycle::DrainingError();
  }
  SEMRANK_RETURN_IF_ERROR(status);
  return std::move(call.json_);
}

absl::Status JsonCall::AdmitAndParse(std::string_view body,
                                     google::protobuf::Message& request,
                                     std::deque<std::string>& held,
                                     std::string& bytes) {
  TextCount count;
  const absl::Status counted =
      CountJsonTexts(body, *work().texts(), count, held);
  // Without room it does not matter how the body would have gone on.
  SEMRANK_RETURN_IF_ERROR(Admit(count));
  SEMRANK_RETURN_IF_ERROR(counted);
  SEMRANK_RETURN_IF_ERROR(FromJson(body, request));
  bytes = request.SerializeAsString();
  return absl::OkStatus();
}

bool JsonCall::client_left() const {
  if (client_.left == nullptr || absl::Now() < next_look_) return false;
  const bool left = client_.left();
  next_look_ = absl::Now() + client_.interval;
  return left;
}

absl::Status JsonCall::MakeAnswer(
    const google::protobuf::MessageLite& response) {
  StageClock clock;
  // Every response of the API is a full message; "lite" ones know no JSON.
  SEMRANK_ASSIGN_OR_RETURN(
      json_, ToJson(dynamic_cast<const google::protobuf::Message&>(response)));
  environment().metrics->RecordStage(Stage::kSerialize, clock.Lap());
  return absl::OkStatus();
}

void JsonCall::Done(const absl::Status& status) {
  const std::shared_ptr<std::promise<absl::Status>> done = done_;
  done->set_value(status);
}

}  // namespace semrank
