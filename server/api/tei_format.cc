// The API of Hugging Face's Text Embeddings Inference, version 1.
//
//   POST /embed   inputs (a text or a list), prompt_name (third_party_json's
//                 SideOf), truncate, truncation_direction (Right, Left),
//                 dimensions (the model's, or absent). "normalize": false is
//                 refused, since there are no vectors of another length.
//   POST /rerank  query, texts, return_text, truncate, truncation_direction,
//                 raw_scores. Scores are Rank's; with "raw_scores": false they
//                 go through a sigmoid, as there.
//   GET /info     the default model and the limits.
//   Errors        {"error", "error_type"}.
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "model/base/version.h"
#include "semrank/v1/embedding_service.pb.h"
#include "semrank/v1/model_service.pb.h"
#include "semrank/v1/ranking_service.pb.h"
#include "server/api/body_format.h"
#include "server/api/json_messages.h"
#include "server/api/third_party_json.h"
#include "server/base/errors.h"
#include "server/http/http_options.h"

namespace semrank {
namespace {

using Json = nlohmann::ordered_json;

// What "truncate" and "truncation_direction" say. Without "truncate" a long
// text fails the call, as there.
absl::StatusOr<Cut> ReadCut(const ThirdPartyJson& body) {
  SEMRANK_ASSIGN_OR_RETURN(const bool truncate, body.Bool("truncate", false));
  SEMRANK_ASSIGN_OR_RETURN(const std::string direction,
                           body.Text("truncation_direction", "Right"));
  const bool left = absl::EqualsIgnoreCase(direction, "Left");
  if (!left && !absl::EqualsIgnoreCase(direction, "Right")) {
    return FieldError("INVALID_FIELD", "truncation_direction",
                      "must be Left or Right");
  }
  if (!truncate) return Cut::kNone;
  return left ? Cut::kStart : Cut::kEnd;
}

class TeiEmbed final : public BodyFormat {
 public:
  explicit TeiEmbed(const Limits& limits) : limits_(limits) {}

  absl::Status Read(const HttpRequest& request, std::string& bytes) override {
    SEMRANK_ASSIGN_OR_RETURN(
        const ThirdPartyJson body,
        ThirdPartyJson::Parse(request.body, "embed request", limits_));
    v1::EmbedTextsRequest embed;
    SEMRANK_ASSIGN_OR_RETURN(const std::string prompt,
                             body.Text("prompt_name"));
    SEMRANK_ASSIGN_OR_RETURN(const v1::Side side,
                             SideOf("prompt_name", prompt));
    embed.set_side(side);
    SEMRANK_ASSIGN_OR_RETURN(const Cut cut, ReadCut(body));
    SEMRANK_ASSIGN_OR_RETURN(const bool normalize,
                             body.Bool("normalize", true));
    if (!normalize) {
      return FieldError("INVALID_FIELD", "normalize",
                        "must be true or absent: a model gives its vectors in "
                        "one length alone");
    }
    SEMRANK_ASSIGN_OR_RETURN(dimensions_, body.Number("dimensions", 0));
    SEMRANK_ASSIGN_OR_RETURN(std::vector<std::string> texts,
                             body.Texts("inputs"));
    for (std::string& text : texts) {
      Truncate({limits_.max_text_bytes}, cut, text);
      embed.add_texts(std::move(text));
    }
    bytes = embed.SerializeAsString();
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> Write(
      const google::protobuf::Message& message) override {
    const auto& response = dynamic_cast<const v1::EmbedTextsResponse&>(message);
    SEMRANK_RETURN_IF_ERROR(
        CheckDimension("dimensions", dimensions_, response));
    std::string json;
    AppendRows(response.vectors(), response.embedding_dim(), json);
    return json;
  }

 private:
  const Limits& limits_;
  std::int64_t dimensions_ = 0;  // 0 = whatever the model has
};

class TeiRerank final : public BodyFormat {
 public:
  explicit TeiRerank(const Limits& limits) : limits_(limits) {}

  absl::Status Read(const HttpRequest& request, std::string& bytes) override {
    SEMRANK_ASSIGN_OR_RETURN(
        const ThirdPartyJson body,
        ThirdPartyJson::Parse(request.body, "rerank request", limits_));
    v1::RankRequest rank;
    SEMRANK_ASSIGN_OR_RETURN(*rank.mutable_query(), body.Text("query"));
    SEMRANK_ASSIGN_OR_RETURN(const Cut cut, ReadCut(body));
    SEMRANK_ASSIGN_OR_RETURN(raw_scores_, body.Bool("raw_scores", true));
    SEMRANK_ASSIGN_OR_RETURN(return_text_, body.Bool("return_text", false));
    SEMRANK_ASSIGN_OR_RETURN(texts_, body.Texts("texts"));
    for (const std::string& text : texts_) {
      std::string& title = *rank.add_titles();
      title = text;
      Truncate({limits_.max_text_bytes}, cut, title);
    }
    bytes = rank.SerializeAsString();
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> Write(
      const google::protobuf::Message& message) override {
    // Their response has no place for a document without a score.
    const auto& response = dynamic_cast<const v1::RankResponse&>(message);
    SEMRANK_RETURN_IF_ERROR(CheckAllRanked(response));
    Json ranks = Json::array();
    for (int i = 0; i < response.indices_size(); ++i) {
      Json rank = {{"index", response.indices(i)}};
      if (return_text_) rank["text"] = texts_[response.indices(i)];
      const float score = response.scores(i);
      rank["score"] =
          ToShortDouble(raw_scores_ ? score : 1 / (1 + std::exp(-score)));
      ranks.push_back(std::move(rank));
    }
    return ranks.dump();
  }

 private:
  const Limits& limits_;
  bool raw_scores_ = true;
  bool return_text_ = false;
  std::vector<std::string> texts_;
};

class TeiInfo final : public BodyFormat {
 public:
  explicit TeiInfo(const Limits& limits) : limits_(limits) {}

  // An empty GetModelRequest means the default model, as /info has no
  // arguments.
  absl::Status Read(const HttpRequest& /*request*/,
                    std::string& bytes) override {
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
                {"max_concurrent_requests", kMaxHttpCalls},
                {"max_input_length", limits_.max_text_bytes},
                {"max_batch_tokens", limits_.max_inflight_texts},
                {"max_batch_requests", nullptr},
                {"max_client_batch_size", limits_.max_texts_per_request},
                {"auto_truncate", false},
                {"tokenization_workers", 1},
                {"version", std::string(Version())}}
        .dump();
  }

 private:
  const Limits& limits_;
};

// The names of TEI's ErrorType.
const char* TeiErrorType(int http_code) {
  // These two make their clients try again.
  if (http_code == 429) return "Overloaded";
  if (http_code == 503) return "Unhealthy";
  return http_code < 500 ? "Validation" : "Backend";
}

std::string ErrorBody(const std::string& message, int http_code) {
  return Json{{"error", message}, {"error_type", TeiErrorType(http_code)}}
      .dump();
}

}  // namespace

std::unique_ptr<BodyFormat> MakeTeiEmbed(const FormatInput& input) {
  return std::make_unique<TeiEmbed>(input.limits);
}
std::unique_ptr<BodyFormat> MakeTeiRerank(const FormatInput& input) {
  return std::make_unique<TeiRerank>(input.limits);
}
std::unique_ptr<BodyFormat> MakeTeiInfo(const FormatInput& input) {
  return std::make_unique<TeiInfo>(input.limits);
}

std::string WriteTeiEmbedError(const absl::Status& status, int http_code) {
  return ErrorBody(WithTheirName(ToStd(status.message()), "texts", "inputs"),
                   http_code);
}
std::string WriteTeiRerankError(const absl::Status& status, int http_code) {
  return ErrorBody(WithTheirName(ToStd(status.message()), "titles", "texts"),
                   http_code);
}
std::string WriteTeiInfoError(const absl::Status& status, int http_code) {
  return ErrorBody(std::string(ToStd(status.message())), http_code);
}

}  // namespace semrank
