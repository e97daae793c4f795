// Bodies of the API itself: its messages as JSON. Vectors are arrays of numbers
// unless the request names an encoding (json_request.h).
#include <google/protobuf/message.h>

#include <utility>

#include "model/base/status_macros.h"
#include "server/api/body_format.h"
#include "server/api/json_messages.h"
#include "server/api/json_request.h"

namespace semrank {
namespace {

class JsonFormat final : public BodyFormat {
 public:
  explicit JsonFormat(const FormatInput& input)
      : request_type_(input.request_type) {}

  absl::Status Read(const HttpRequest& request, std::string& bytes) override {
    // A method without arguments can be called by GET.
    if (request.is_get && request.body.empty()) return absl::OkStatus();
    JsonRequest read;
    SEMRANK_RETURN_IF_ERROR(ReadJsonRequest(request.body, request_type_, read));
    vectors_ = read.wants_numbers ? VectorForm::kNumbers : VectorForm::kBase64;
    bytes = std::move(read.bytes);
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> Write(
      const google::protobuf::Message& response) override {
    return ToJson(response, vectors_);
  }

 private:
  const google::protobuf::Descriptor& request_type_;
  VectorForm vectors_ = VectorForm::kNumbers;
};

}  // namespace

const FormatFunctions formats::kJson = {&MakeFormatOf<JsonFormat>,
                                        &WriteStatus};

}  // namespace semrank
