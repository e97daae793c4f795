// OpenAI's embeddings API, as its clients and the products that take an "OpenAI
// compatible" server speak it.
//
//   POST /v1/embeddings  model (a served one; empty = the default), input (a
//                        text or a list), encoding_format (float, base64),
//                        dimensions (the model's, or absent), and beside
//                        OpenAI's own input_type (ThirdPartyJson::Side).
//                        "user" has no effect, and token ids are refused.
//   GET /v1/models       the models that are served.
//   GET /v1/models/NAME  one of them.
//   Errors               {"error": {"message", "type", "param", "code"}}; the
//                        code is the reason of semrank's error.
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "semrank/v1/embedding_service.pb.h"
#include "semrank/v1/model_service.pb.h"
#include "server/api/body_format.h"
#include "server/api/json_messages.h"
#include "server/api/third_party_json.h"
#include "server/api/wire_writer.h"
#include "server/base/errors.h"
#include "server/base/text_checks.h"

namespace semrank {
namespace {

using Json = nlohmann::ordered_json;

// The largest page of ListModels.
constexpr int kMaxModels = 1'000;

class Embeddings final : public BodyFormat {
 public:
  using BodyFormat::BodyFormat;

  absl::Status Read(std::string& bytes) override {
    ThirdPartyJson body(request_.body, "embeddings request", limits_);
    v1::EmbedTextsRequest embed;
    embed.mutable_model()->set_name(body.Text("model"));
    // OpenAI has no such field, but other products with its API do. Without it
    // texts are documents.
    embed.set_side(body.Side("input_type"));
    // OpenAI's Python client asks for base64 and decodes it itself.
    base64_ = body.Choice("encoding_format", {"float", "base64"}) == 1;
    dimensions_ = body.Number("dimensions");
    bytes.reserve(request_.body.size());
    embed.AppendToString(&bytes);
    body.EachText("input", [&](std::string_view text) {
      num_words_ += CountWords(text);
      AppendBytesField(v1::EmbedTextsRequest::kTextsFieldNumber, text, bytes);
    });
    return body.status();
  }

  absl::StatusOr<std::string> Write(
      const google::protobuf::Message& message) override {
    const auto& response = dynamic_cast<const v1::EmbedTextsResponse&>(message);
    SEMRANK_RETURN_IF_ERROR(
        CheckDimension("dimensions", dimensions_, response));
    // The text is built directly: a tree of a million numbers would take many
    // times their size.
    std::string json = "{\"object\":\"list\",\"data\":";
    int index = 0;
    AppendRows(
        response.vectors(), response.embedding_dim() * sizeof(float),
        [&](std::string_view row, std::string& to) {
          absl::StrAppend(&to, "{\"object\":\"embedding\",\"index\":", index++,
                          ",\"embedding\":");
          base64_ ? AppendBase64(row, to) : AppendFloatList(row, to);
          to += '}';
        },
        json);
    absl::StrAppend(&json, ",\"model\":", Json(response.model().name()).dump(),
                    ",\"usage\":{\"prompt_tokens\":", num_words_,
                    ",\"total_tokens\":", num_words_, "}}");
    return json;
  }

 private:
  bool base64_ = false;
  std::int64_t dimensions_ = 0;  // 0 = whatever the model has
  std::int64_t num_words_ = 0;
};

Json ModelObject(const std::string& id,
                 const google::protobuf::Timestamp& load_time) {
  return {{"id", id},
          {"object", "model"},
          {"created", load_time.seconds()},
          {"owned_by", "semrank"}};
}

class ModelList final : public BodyFormat {
 public:
  using BodyFormat::BodyFormat;

  absl::Status Read(std::string& bytes) override {
    v1::ListModelsRequest list;
    list.set_page_size(kMaxModels);
    bytes = list.SerializeAsString();
    return absl::OkStatus();
  }
  absl::StatusOr<std::string> Write(
      const google::protobuf::Message& message) override {
    Json models = Json::array();
    for (const v1::Model& model :
         dynamic_cast<const v1::ListModelsResponse&>(message).models()) {
      // Clients take ids from this list and send them as models.
      // An id there is a name without a version, so each name appears once.
      if (!model.current()) continue;
      models.push_back(ModelObject(model.name(), model.load_time()));
      for (const std::string& alias : model.aliases()) {
        models.push_back(ModelObject(alias, model.load_time()));
      }
    }
    return Json{{"object", "list"}, {"data", models}}.dump();
  }
};

class OneModel final : public BodyFormat {
 public:
  using BodyFormat::BodyFormat;

  absl::Status Read(std::string& bytes) override {
    constexpr std::string_view kBefore = "/v1/models/";
    name_ =
        PercentDecode(std::string_view(request_.path).substr(kBefore.size()));
    SEMRANK_RETURN_IF_ERROR(CheckUtf8("model", name_));
    v1::ResolveModelRequest resolve;
    resolve.mutable_model()->set_name(name_);
    bytes = resolve.SerializeAsString();
    return absl::OkStatus();
  }
  absl::StatusOr<std::string> Write(
      const google::protobuf::Message& message) override {
    const auto& response =
        dynamic_cast<const v1::ResolveModelResponse&>(message);
    return ModelObject(name_.empty() ? response.model().name() : name_,
                       response.load_time())
        .dump();
  }

 private:
  std::string name_;  // the caller's, which may be an alias
};

const char* OpenAiErrorType(int http_code) {
  switch (http_code) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 429:
      return "rate_limit_error";
    default:
      return http_code < 500 ? "invalid_request_error" : "server_error";
  }
}

// OpenAI's list for GET, the API's own for POST.
std::unique_ptr<BodyFormat> MakeModelList(const FormatInput& input) {
  return input.request.is_get ? MakeFormatOf<ModelList>(input)
                              : formats::kJson.make(input);
}

std::string WriteOpenAiError(const absl::Status& status, int http_code) {
  const auto rename = [](std::string_view text) {
    return WithTheirName(WithTheirName(text, "texts", "input"), "model.name",
                         "model");
  };
  const auto values = ErrorValues(status);
  const auto field = values.find("field");
  return Json{
      {"error",
       {{"message", rename(ToStd(status.message()))},
        {"type", OpenAiErrorType(http_code)},
        // null: the error names no field.
        {"param", field == values.end() ? Json() : Json(rename(field->second))},
        {"code", ErrorReason(status)}}}}
      .dump();
}

}  // namespace

const FormatFunctions formats::kOpenAiEmbeddings = {&MakeFormatOf<Embeddings>,
                                                    &WriteOpenAiError};
const FormatFunctions formats::kOpenAiModels = {&MakeModelList,
                                                &WriteBothErrors};
const FormatFunctions formats::kOpenAiModel = {&MakeFormatOf<OneModel>,
                                               &WriteBothErrors};

std::string WriteBothErrors(const absl::Status& status, int http_code) {
  std::string json = StatusToJson(status);
  json.back() = ',';
  return json + WriteOpenAiError(status, http_code).substr(1);
}

}  // namespace semrank
