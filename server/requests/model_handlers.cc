#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "semrank/v1/model_service.pb.h"
#include "server/base/errors.h"
#include "server/base/limits.h"
#include "server/base/unread_responses.h"
#include "server/requests/handlers.h"
#include "server/requests/message_fields.h"
#include "server/requests/wire_reader.h"

namespace semrank {
namespace {

// Requests of ModelService have no texts and take no permits, so that an
// overloaded server answers operators, too. Most of the methods need no
// model (methods.def).

constexpr int kDefaultPageSize = 100;
constexpr int kMaxPageSize = 1'000;
// No request of these methods has a repeated field.
constexpr std::int64_t kNoItems = 0;

static_assert(int{v1::MODEL_STATE_FOUND} == int(ModelState::kFound) &&
              int{v1::MODEL_STATE_SERVING} == int(ModelState::kServing) &&
              int{v1::MODEL_STATE_FAILED} == int(ModelState::kFailed));

void SetTimestamp(absl::Time time, google::protobuf::Timestamp& timestamp) {
  // Rounded down, so that `nanos` is never negative, as Timestamp demands.
  const std::int64_t seconds = absl::ToUnixSeconds(time);
  timestamp.set_seconds(seconds);
  timestamp.set_nanos(static_cast<std::int32_t>(
      absl::ToInt64Nanoseconds(time - absl::FromUnixSeconds(seconds))));
}

// A token is "version/name" of the last model of the page before it. It names a
// place in the order of the list, so it stays valid when models appear or are
// removed.
absl::StatusOr<std::tuple<std::string, std::int64_t>> ParseToken(
    const std::string& token) {
  const std::size_t slash = token.find('/');
  std::int64_t version = 0;
  if (slash == std::string::npos ||
      !absl::SimpleAtoi(token.substr(0, slash), &version)) {
    return FieldError("INVALID_FIELD", "page_token",
                      "is not a next_page_token of this server");
  }
  return std::tuple(token.substr(slash + 1), version);
}

// The order of the list, by name, then newest first, which page tokens rely on.
bool IsAfter(const ModelStatus& model,
             const std::tuple<std::string, std::int64_t>& last) {
  return std::tuple(model.name, -model.version) >
         std::tuple(std::get<0>(last), -std::get<1>(last));
}

void DescribeModel(const ModelStatus& status, v1::Model& model) {
  model.set_name(status.name);
  model.set_version(status.version);
  model.set_state(static_cast<v1::ModelState>(status.state));
  model.set_current(status.current);
  model.set_pinned(status.pinned);
  model.set_is_default(status.is_default);
  model.mutable_aliases()->Add(status.aliases.begin(), status.aliases.end());
  if (status.load_time != absl::InfinitePast()) {
    SetTimestamp(status.load_time, *model.mutable_load_time());
  }
  if (!status.failure.ok()) {
    *model.mutable_failure() = ToRpcStatus(status.failure);
  }
  // What follows is known only while the model is loaded.
  if (status.model == nullptr) return;
  const TwoTowerModel& loaded = *status.model->model;
  *model.mutable_config() = loaded.config();
  model.set_weights_sha256(loaded.version().weights_sha256);
  model.set_embedding_dim(loaded.embedding_dim());
  model.set_score_kind(loaded.config().score_kind());
}

// What ListModels asks for.
struct PageRequest {
  std::string_view name = {};  // empty = all names
  std::int32_t size = 0;
  std::string_view token = {};
};

// The page of `models`, which are sorted as ModelStore lists them.
absl::Status FillPage(const std::vector<ModelStatus>& models,
                      const PageRequest& list, v1::ListModelsResponse& page) {
  if (list.size < 0) {
    return FieldError("INVALID_FIELD", "page_size",
                      absl::StrFormat("%d is negative", list.size));
  }
  // A page that is too large is cut rather than refused: page_size is the most
  // that the client wants (AIP-158).
  const int size =
      list.size == 0 ? kDefaultPageSize : std::min(list.size, kMaxPageSize);
  auto begin = models.begin();
  if (!list.token.empty()) {
    SEMRANK_ASSIGN_OR_RETURN(const auto last,
                             ParseToken(std::string(list.token)));
    begin = std::find_if(models.begin(), models.end(), [&](const auto& model) {
      return IsAfter(model, last);
    });
  }
  for (auto model = begin; model != models.end(); ++model) {
    // The token is only set if another model follows, so the last page
    // has none.
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

// `max_catalog_documents` is not in `limits`: only the catalog needs it.
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
  message.set_max_share_per_caller(limits.max_share_per_caller);
  message.set_max_queue_wait_ms(
      absl::ToInt64Milliseconds(limits.max_queue_wait));
  message.set_max_explain_words(limits.max_explain_words);
  message.set_max_unread_response_bytes(MaxUnreadBytes(limits));
  message.set_send_timeout_ms(absl::ToInt64Milliseconds(limits.send_timeout));
  message.set_max_http_calls(kMaxHttpCalls);
  message.set_max_http_connections(kMaxHttpConnections);
  message.set_min_body_rate(limits.min_body_rate);
}

// Reads a request that has nothing but a model. It has no texts.
template <typename Request, typename Response>
class ModelHandler : public HandlerOf<Response> {
 public:
  using HandlerOf<Response>::HandlerOf;

  absl::StatusOr<RequestSize> Read(std::string_view bytes) override {
    SEMRANK_RETURN_IF_ERROR(ReadFields<Request>(
        bytes, kNoItems, WireField(Request::kModelFieldNumber, model_)));
    SEMRANK_RETURN_IF_ERROR(CheckModelName(model_));
    return RequestSize{};
  }

 protected:
  ModelRefView model_;
};

// Describes any version in --model_dir, also one that was never loaded; that
// reads the disk, which is why a worker runs it.
class GetModelHandler final
    : public ModelHandler<v1::GetModelRequest, v1::GetModelResponse> {
 public:
  using ModelHandler::ModelHandler;

  absl::StatusOr<Progress> RunSlice(const RequestRun& /*run*/) override {
    SEMRANK_ASSIGN_OR_RETURN(
        const ModelStatus status,
        parts_.models->Describe(model_.name, model_.version));
    DescribeModel(status, *response_.mutable_model());
    return Progress::kDone;
  }
};

// Returns the model that would serve a request with this reference now. Reads
// only memory.
class ResolveModelHandler final
    : public ModelHandler<v1::ResolveModelRequest, v1::ResolveModelResponse> {
 public:
  using ModelHandler::ModelHandler;

  absl::StatusOr<Progress> RunSlice(const RequestRun& /*run*/) override {
    SEMRANK_ASSIGN_OR_RETURN(const ServedModelPtr served,
                             parts_.models->Find(model_.name, model_.version));
    SetModel(*served, response_);
    SetTimestamp(served->load_time, *response_.mutable_load_time());
    return Progress::kDone;
  }
};

class ListModelsHandler final : public HandlerOf<v1::ListModelsResponse> {
 public:
  using HandlerOf::HandlerOf;

  absl::StatusOr<RequestSize> Read(std::string_view bytes) override {
    using Request = v1::ListModelsRequest;
    SEMRANK_RETURN_IF_ERROR(ReadFields<Request>(
        bytes, kNoItems, WireField(Request::kNameFieldNumber, list_.name),
        WireField(Request::kPageSizeFieldNumber, list_.size),
        WireField(Request::kPageTokenFieldNumber, list_.token)));
    SEMRANK_RETURN_IF_ERROR(CheckUtf8("name", list_.name));
    SEMRANK_RETURN_IF_ERROR(CheckUtf8("page_token", list_.token));
    return RequestSize{};
  }

  absl::StatusOr<Progress> RunSlice(const RequestRun& /*run*/) override {
    SEMRANK_ASSIGN_OR_RETURN(const std::vector<ModelStatus> models,
                             parts_.models->List(list_.name));
    SEMRANK_RETURN_IF_ERROR(FillPage(models, list_, response_));
    return Progress::kDone;
  }

 private:
  PageRequest list_;
};

class ReloadModelHandler final
    : public ModelHandler<v1::ReloadModelRequest, v1::ReloadModelResponse> {
 public:
  using ModelHandler::ModelHandler;

  absl::StatusOr<Progress> RunSlice(const RequestRun& /*run*/) override {
    // Roles protect the method where there are API keys. Without keys every
    // client has every role, so the flag is needed beside them.
    if (!parts_.admin_rpcs) {
      return MakeError(absl::StatusCode::kFailedPrecondition, "ADMIN_DISABLED",
                       "the server runs without --enable_admin_rpcs",
                       {{"flag", "enable_admin_rpcs"}});
    }
    SEMRANK_ASSIGN_OR_RETURN(
        const ModelStore::Reloaded reloaded,
        parts_.models->Reload(model_.name, model_.version));
    DescribeModel(reloaded.model, *response_.mutable_model());
    if (reloaded.previous_version != 0) {
      v1::ModelRef& previous = *response_.mutable_previous();
      previous.set_name(reloaded.model.name);
      previous.set_version(reloaded.previous_version);
    }
    response_.set_changed(reloaded.changed);
    return Progress::kDone;
  }
};

class GetLimitsHandler final : public HandlerOf<v1::GetLimitsResponse> {
 public:
  using HandlerOf::HandlerOf;

  absl::StatusOr<RequestSize> Read(std::string_view bytes) override {
    SEMRANK_RETURN_IF_ERROR(ReadFields<v1::GetLimitsRequest>(bytes, kNoItems));
    return RequestSize{};
  }

  absl::StatusOr<Progress> RunSlice(const RequestRun& /*run*/) override {
    DescribeLimits(parts_.limits, parts_.catalog->documents.max_documents(),
                   *response_.mutable_limits());
    return Progress::kDone;
  }
};

}  // namespace

SEMRANK_DEFINE_HANDLER(GetModel, GetModelHandler)
SEMRANK_DEFINE_HANDLER(ResolveModel, ResolveModelHandler)
SEMRANK_DEFINE_HANDLER(ListModels, ListModelsHandler)
SEMRANK_DEFINE_HANDLER(GetLimits, GetLimitsHandler)
SEMRANK_DEFINE_HANDLER(ReloadModel, ReloadModelHandler)

}  // namespace semrank
