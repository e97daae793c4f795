// The API of Hugging Face's Text Embeddings Inference, version 1.
//
//   POST /embed   inputs (a text or a list), prompt_name (ThirdPartyJson's
//                 Side), truncate, truncation_direction (Right, Left),
//                 dimensions (the model's, or absent). "normalize": false is
//                 refused, since there are no vectors of another length.
//   POST /rerank  query, texts, return_text, truncate, truncation_direction,
//                 raw_scores. Scores are Rank's; with "raw_scores": false they
//                 go through a sigmoid, as there.
//   GET /info     the default model and the limits.
//   Errors        {"error", "error_type"}.
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "absl/strings/str_cat.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "model/base/version.h"
#include "model/text/utf8.h"
#include "semrank/v1/embedding_service.pb.h"
#include "semrank/v1/model_service.pb.h"
#include "semrank/v1/ranking_service.pb.h"
#include "server/api/body_format.h"
#include "server/api/json_messages.h"
#include "server/api/third_party_json.h"
#include "server/api/wire_writer.h"
#include "server/http/http_options.h"

namespace semrank {
namespace {

using Json = nlohmann::ordered_json;

// What "truncate" and "truncation_direction" say. Without "truncate" a long
// text fails the call, as there.
Cut ReadCut(ThirdPartyJson& body) {
  const bool truncate = body.Bool("truncate", false);
  const bool left = body.Choice("truncation_direction", {"Right", "Left"}) == 1;
  if (!truncate) return Cut::kNone;
  return left ? Cut::kStart : Cut::kEnd;
}

class TeiEmbed final : public BodyFormat {
 public:
  using BodyFormat::BodyFormat;

  absl::Status Read(std::string& bytes) override {
    ThirdPartyJson body(request_.body, "embed request", limits_);
    v1::EmbedTextsRequest embed;
    embed.set_side(body.Side("prompt_name"));
    const Cut cut = ReadCut(body);
    if (!body.Bool("normalize", true)) {
      body.Refuse("normalize",
                  "must be true or absent: this server returns normalised "
                  "vectors only");
    }
    dimensions_ = body.Number("dimensions");
    bytes.reserve(request_.body.size());
    embed.AppendToString(&bytes);
    body.EachText("inputs", [&](std::string_view text) {
      AppendBytesField(v1::EmbedTextsRequest::kTextsFieldNumber,
                       Truncated({limits_.max_text_bytes}, cut, text), bytes);
    });
    return body.status();
  }

  absl::StatusOr<std::string> Write(
      const google::protobuf::Message& message) override {
    const auto& response = dynamic_cast<const v1::EmbedTextsResponse&>(message);
    SEMRANK_RETURN_IF_ERROR(
        CheckDimension("dimensions", dimensions_, response));
    std::string json;
    AppendRows(response.vectors(), response.embedding_dim() * sizeof(float),
               AppendFloatList, json);
    return json;
  }

 private:
  std::int64_t dimensions_ = 0;  // 0 = whatever the model has
};

class TeiRerank final : public BodyFormat {
 public:
  using BodyFormat::BodyFormat;

  absl::Status Read(std::string& bytes) override {
    ThirdPartyJson body(request_.body, "rerank request", limits_);
    v1::RankRequest rank;
    rank.set_query(body.Text("query"));
    const Cut cut = ReadCut(body);
    raw_scores_ = body.Bool("raw_scores", true);
    return_text_ = body.Bool("return_text", false);
    bytes.reserve(request_.body.size());
    rank.AppendToString(&bytes);
    body.EachText("texts", [&](std::string_view text) {
      AppendBytesField(v1::RankRequest::kTitlesFieldNumber,
                       Truncated({limits_.max_text_bytes}, cut, text), bytes);
      if (return_text_) texts_.emplace_back(text);
    });
    return body.status();
  }

  absl::StatusOr<std::string> Write(
      const google::protobuf::Message& message) override {
    const auto& response = dynamic_cast<const v1::RankResponse&>(message);
    std::vector<float> scores(response.scores().begin(),
                              response.scores().end());
    if (!raw_scores_) {
      for (float& score : scores) score = 1 / (1 + std::exp(-score));
    }
    std::string json;
    SEMRANK_RETURN_IF_ERROR(AppendRanking(
        response, scores,
        [&](std::uint32_t index, absl::string_view score) {
          absl::StrAppend(&json, "{\"index\":", index);
          if (return_text_) {
            json += ",\"text\":";
            AppendJsonString(texts_[index], json);
          }
          absl::StrAppend(&json, ",\"score\":", score, "}");
        },
        json));
    return json;
  }

 private:
  bool raw_scores_ = true;
  bool return_text_ = false;
  std::vector<std::string> texts_;  // if they are returned
};

class TeiInfo final : public BodyFormat {
 public:
  using BodyFormat::BodyFormat;

  // An empty GetModelRequest means the default model, as /info has no
  // arguments.
  absl::Status Read(std::string& bytes) override {
    bytes.clear();
    return absl::OkStatus();
  }
  // Their limits count tokens, ours texts.
  absl::StatusOr<std::string> Write(
      const google::protobuf::Message& message) override {
    const v1::Model& model =
        dynamic_cast<const v1::GetModelResponse&>(message).model();
    return Json{{"model_id", model.name()},
                {"model_sha", model.weights_sha256()},
                // Their clients need these members, which this server does not
                // have; the values are harmless to them.
                {"model_dtype", "float32"},
                {"model_type", {{"embedding", {{"pooling", "none"}}}}},
                {"max_concurrent_requests", kMaxHttpCallsPerCaller},
                {"max_input_length", limits_.max_text_bytes},
                {"max_batch_tokens", limits_.max_inflight_texts},
                {"max_batch_requests", nullptr},
                {"max_client_batch_size", limits_.max_texts_per_request},
                {"auto_truncate", false},
                {"tokenization_workers", 1},
                {"version", std::string(Version())}}
        .dump();
  }
};

// The names of TEI's ErrorType.
const char* TeiErrorType(int http_code) {
  // These two make their clients try again.
  if (http_code == 429) return "Overloaded";
  if (http_code == 503) return "Unhealthy";
  return http_code < 500 ? "Validation" : "Backend";
}

std::string TeiError(const std::string& message, int http_code) {
  return Json{{"error", message}, {"error_type", TeiErrorType(http_code)}}
      .dump();
}

// The fields of requests to embed and to rerank have other names there: "texts"
// is a name of ours for the first and of theirs for the second.
std::string WriteEmbedError(const absl::Status& status, int http_code) {
  return TeiError(WithTheirName(ToStd(status.message()), "texts", "inputs"),
                  http_code);
}
std::string WriteRerankError(const absl::Status& status, int http_code) {
  return TeiError(WithTheirName(ToStd(status.message()), "titles", "texts"),
                  http_code);
}
std::string WriteInfoError(const absl::Status& status, int http_code) {
  return TeiError(std::string(ToStd(status.message())), http_code);
}

}  // namespace

const FormatFunctions formats::kTeiEmbed = {&MakeFormatOf<TeiEmbed>,
                                            &WriteEmbedError};
const FormatFunctions formats::kTeiRerank = {&MakeFormatOf<TeiRerank>,
                                             &WriteRerankError};
const FormatFunctions formats::kTeiInfo = {&MakeFormatOf<TeiInfo>,
                                           &WriteInfoError};

}  // namespace semrank
