#include "server/json_call.h"

#include <google/protobuf/message.h>

#include <utility>

#include "absl/time/clock.h"
#include "model/base/status_macros.h"
#include "server/json_messages.h"

namespace semrank {

JsonCall::JsonCall(const RpcEnvironment& environment,
                   std::unique_ptr<RequestWork> work)
    : RequestRun(environment, std::move(work)),
      deadline_(absl::Now() + kMaxTime),
      done_(std::make_shared<std::promise<absl::Status>>()) {}

absl::StatusOr<std::string> JsonCall::Run(const RpcEnvironment& environment,
                                          std::unique_ptr<RequestWork> work,
                                          std::string_view bytes,
                                          Admission::Permit permit) {
  JsonCall call(environment, std::move(work));
  std::future<absl::Status> done = call.done_->get_future();
  call.Start(bytes, std::move(permit));
  SEMRANK_RETURN_IF_ERROR(done.get());
  return std::move(call.json_);
}

absl::Status JsonCall::MakeAnswer(
    const google::protobuf::MessageLite& response) {
  // Every response of the API is a full message; "lite" ones know no JSON.
  SEMRANK_ASSIGN_OR_RETURN(
      json_, ToJson(dynamic_cast<const google::protobuf::Message&>(response)));
  return absl::OkStatus();
}

void JsonCall::Done(const absl::Status& status) {
  const std::shared_ptr<std::promise<absl::Status>> done = done_;
  done->set_value(status);
}

}  // namespace semrank
