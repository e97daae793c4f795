#include "server/requests/model_fields.h"

#include <algorithm>
#include <string>
#include <tuple>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "server/base/errors.h"
#include "server/requests/rpc_status.h"

namespace semrank {
namespace {

constexpr int kDefaultPageSize = 100;
constexpr int kMaxPageSize = 1'000;

v1::ModelState ToProto(ModelState state) {
  switch (state) {
    case ModelState::kFound:
      return v1::MODEL_STATE_FOUND;
    case ModelState::kLoading:
      return v1::MODEL_STATE_LOADING;
    case ModelState::kServing:
      return v1::MODEL_STATE_SERVING;
    case ModelState::kRetiring:
      return v1::MODEL_STATE_RETIRING;
    case ModelState::kRetired:
      return v1::MODEL_STATE_RETIRED;
    case ModelState::kFailed:
      return v1::MODEL_STATE_FAILED;
  }
  return v1::MODEL_STATE_UNSPECIFIED;
}

void SetTimestamp(absl::Time time, google::protobuf::Timestamp& timestamp) {
  const std::int64_t seconds = absl::ToUnixSeconds(time);
  timestamp.set_seconds(seconds);
  timestamp.set_nanos(static_cast<std::int32_t>(
      absl::ToInt64Nanoseconds(time - absl::FromUnixSeconds(seconds))));
}

// A token is "version/name" of the last model of the page before it.
absl::StatusOr<std::tuple<std::string, std::int64_t>> ParseToken(
    const std::string& token) {
  const std::size_t slash = token.find('/');
  std::int64_t version = 0;
  if (slash == std::string::npos ||
      !absl::SimpleAtoi(token.substr(0, slash), &version)) {
    return FieldError("INVALID_FIELD", "page_token",
                      "is no next_page_token of this server");
  }
  return std::tuple(token.substr(slash + 1), version);
}

// By name, then newest first, as models are listed.
bool IsAfter(const ModelStatus& model,
             const std::tuple<std::string, std::int64_t>& last) {
  return std::tuple(model.name, -model.version) >
         std::tuple(std::get<0>(last), -std::get<1>(last));
}

}  // namespace

void DescribeModel(const ModelStatus& status, v1::Model& model) {
  model.set_name(status.name);
  model.set_version(status.version);
  model.set_state(ToProto(status.state));
  model.set_current(status.current);
  model.set_pinned(status.pinned);
  model.set_is_default(status.is_default);
  if (status.load_time != absl::InfinitePast()) {
    SetTimestamp(status.load_time, *model.mutable_load_time());
  }
  if (!status.failure.ok()) {
    *model.mutable_failure() = ToRpcStatus(status.failure);
  }
  if (status.model == nullptr) return;
  const TwoTowerModel& loaded = *status.model->model;
  *model.mutable_config() = loaded.config();
  model.set_weights_sha256(loaded.version().weights_sha256);
  model.set_embedding_dim(loaded.embedding_dim());
  model.set_score_kind(loaded.config().score_kind());
}

absl::Status FillPage(std::span<const ModelStatus> models,
                      const v1::ListModelsRequest& list,
                      v1::ListModelsResponse& page) {
  if (list.page_size() < 0) {
    return FieldError("INVALID_FIELD", "page_size",
                      absl::StrFormat("%d is negative", list.page_size()));
  }
  const int size = list.page_size() == 0
                       ? kDefaultPageSize
                       : std::min(list.page_size(), kMaxPageSize);
  auto begin = models.begin();
  if (!list.page_token().empty()) {
    SEMRANK_ASSIGN_OR_RETURN(const auto last, ParseToken(list.page_token()));
    begin = std::find_if(models.begin(), models.end(), [&](const auto& model) {
      return IsAfter(model, last);
    });
  }
  for (auto model = begin; model != models.end(); ++model) {
    if (page.models_size() == size) {
      const ModelStatus& last = *(model - 1);
      page.set_next_page_token(
          absl::StrFormat("%d/%s", last.version, last.name));
      break;
    }
    DescribeModel(*model, *page.add_models());
  }
  return absl::OkStatus();
}

void DescribeLimits(const Limits& limits, std::size_t max_catalog_documents,
                    v1::Limits& message) {
  message.set_max_texts_per_request(limits.max_texts_per_request);
  message.set_max_text_bytes(limits.max_text_bytes);
  message.set_max_inflight_texts(limits.max_inflight_texts);
  message.set_max_request_bytes(MaxRequestBytes(limits));
  message.set_max_response_bytes(MaxResponseBytes(limits));
  message.set_max_metadata_bytes(limits.max_metadata_bytes);
  message.set_max_http_body_bytes(limits.max_http_body_bytes);
  message.set_max_connections(limits.max_connections);
  message.set_max_streams_per_connection(limits.max_streams_per_connection);
  message.set_max_requests_per_stream(limits.max_requests_per_stream);
  message.set_max_document_id_bytes(limits.max_document_id_bytes);
  message.set_max_payload_bytes(limits.max_payload_bytes);
  message.set_max_top_k(limits.max_top_k);
  message.set_max_catalog_documents(max_catalog_documents);
}

}  // namespace semrank
