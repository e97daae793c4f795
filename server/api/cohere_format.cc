// The APIs of Cohere (rerank of v1 and v2, embed of v2) and Jina (rerank),
// which LiteLLM, LangChain, LlamaIndex and others speak.
//
//   POST /v1/rerank  model (a served one; empty = the default), query,
//        /v2/rerank  documents (texts, or objects with rank_fields, by default
//                    "text"), top_n, return_documents, max_tokens_per_doc (in
//                    words). Longer documents, and those beyond
//                    --max_text_bytes, are cut, as these APIs do.
//   POST /v2/embed   model, texts, input_type (ThirdPartyJson::Side),
//                    embedding_types (float, int8, base64), truncate,
//                    max_tokens (in words), output_dimension (the model's, or
//                    absent). "images", "inputs" and other types are refused.
//   int8             each vector is scaled so that its largest element is 127:
//                    compare by cosine.
//   Scores           those of Rank: cosines, not probabilities.
//   No effect        priority; max_chunks_per_doc, since a document is one.
//   Errors           {"message", "detail"}: clients of both show one of them.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "model/text/utf8.h"
#include "semrank/v1/embedding_service.pb.h"
#include "semrank/v1/ranking_service.pb.h"
#include "server/api/body_format.h"
#include "server/api/json_messages.h"
#include "server/api/third_party_json.h"
#include "server/api/wire_writer.h"
#include "server/base/errors.h"
#include "server/base/request_identity.h"
#include "server/base/text_checks.h"
#include "server/base/vector_encoding.h"

namespace semrank {
namespace {

using Json = nlohmann::ordered_json;

// Clients match responses by it, so it is the caller's own if there is one.
std::string IdOf(const HttpRequest& request) {
  return MakeRequestIdentity(request.request_id, "").request_id;
}

// Each once, so that a document is not longer than it was sent.
std::vector<std::string> RankFields(ThirdPartyJson& body) {
  constexpr std::size_t kMaxFields = 100;
  std::vector<std::string> fields = body.Texts("rank_fields");
  if (fields.size() > kMaxFields) {
    body.Fail(FieldError("INVALID_FIELD", "rank_fields",
                         absl::StrCat("has ", fields.size(),
                                      " names; the limit is ", kMaxFields)));
    return {};
  }
  absl::flat_hash_set<std::string> seen;
  std::erase_if(fields, [&seen](const std::string& field) {
    return !seen.insert(field).second;
  });
  return fields.empty() ? std::vector<std::string>{"text"} : fields;
}

class CohereRerank final : public BodyFormat {
 public:
  using BodyFormat::BodyFormat;

  absl::Status Read(std::string& bytes) override {
    ThirdPartyJson body(request_.body, "rerank request", limits_);
    v1::RankRequest rank;
    rank.mutable_model()->set_name(body.Text("model"));
    rank.set_query(body.Text("query"));
    rank.set_top_k(static_cast<std::uint32_t>(body.Number("top_n")));
    return_documents_ = body.Bool("return_documents", false);
    const std::vector<std::string> fields = RankFields(body);
    const TextSize size{limits_.max_text_bytes,
                        body.Number("max_tokens_per_doc")};
    bytes.reserve(request_.body.size());
    rank.AppendToString(&bytes);
    num_words_ = CountWords(rank.query());
    body.EachText(
        "documents",
        [&](std::string_view document) {
          // The count is that of the whole documents, as a client would count
          // them. These APIs cut long documents instead of refusing them.
          num_words_ += CountWords(document);
          AppendBytesField(v1::RankRequest::kTitlesFieldNumber,
                           Truncated(size, Cut::kEnd, document), bytes);
          if (return_documents_) documents_.emplace_back(document);
        },
        fields);
    return body.status();
  }

  absl::StatusOr<std::string> Write(
      const google::protobuf::Message& message) override {
    const auto& response = dynamic_cast<const v1::RankResponse&>(message);
    std::string json = "{\"id\":";
    AppendJsonString(id_, json);
    json += ",\"model\":";
    AppendJsonString(response.model().name(), json);
    json += ",\"results\":";
    SEMRANK_RETURN_IF_ERROR(AppendRanking(
        response,
        {response.scores().data(),
         static_cast<std::size_t>(response.scores_size())},
        [&](std::uint32_t index, absl::string_view score) {
          absl::StrAppend(&json, "{\"index\":", index,
                          ",\"relevance_score\":", score);
          if (return_documents_) {
            json += ",\"document\":{\"text\":";
            AppendJsonString(documents_[index], json);
            json += '}';
          }
          json += '}';
        },
        json));
    absl::StrAppend(&json, ",\"usage\":{\"total_tokens\":", num_words_,
                    "},\"meta\":{\"billed_units\":{\"search_units\":1}}}");
    return json;
  }

 private:
  const std::string id_ = IdOf(request_);
  bool return_documents_ = false;
  std::vector<std::string> documents_;  // if they are returned
  std::int64_t num_words_ = 0;
};

// Cohere's format does not transfer the scale of a row. Cosine similarity does
// not depend on it.
void AppendInt8List(std::string_view floats, std::string& json) {
  std::vector<float> numbers(floats.size() / sizeof(float));
  DecodeFloat32(floats, numbers);
  std::string bytes;
  std::vector<float> scales;
  EncodeInt8(numbers, static_cast<int>(numbers.size()), bytes, scales);
  for (const char& byte : bytes) {
    absl::StrAppend(&json, &byte == bytes.data() ? "[" : ",",
                    static_cast<int>(static_cast<signed char>(byte)));
  }
  json += ']';
}

struct EmbeddingType {
  std::string_view name;
  // Appends a vector, which is given as float32.
  void (*append)(std::string_view floats, std::string& json);
};
constexpr EmbeddingType kEmbeddingTypes[] = {{"float", &AppendFloatList},
                                             {"int8", &AppendInt8List},
                                             {"base64", &AppendBase64}};

class CohereEmbed final : public BodyFormat {
 public:
  using BodyFormat::BodyFormat;

  absl::Status Read(std::string& bytes) override {
    ThirdPartyJson body(request_.body, "embed request", limits_);
    for (const char* const name : {"images", "inputs"}) {
      body.Refuse(name, "is not supported: send texts");
    }
    v1::EmbedTextsRequest embed;
    embed.mutable_model()->set_name(body.Text("model"));
    embed.set_side(body.Side("input_type"));
    if (!body.has("input_type")) {
      body.Fail(FieldError("INVALID_FIELD", "input_type",
                           "is not set: say search_query or search_document"));
    }
    ReadTypes(body);
    dimension_ = body.Number("output_dimension");
    texts_ = body.Texts("texts");
    AddTexts(body, embed);
    bytes = embed.SerializeAsString();
    return body.status();
  }

  // The text is built directly, as that of OpenAI's embeddings.
  absl::StatusOr<std::string> Write(
      const google::protobuf::Message& message) override {
    const auto& response = dynamic_cast<const v1::EmbedTextsResponse&>(message);
    SEMRANK_RETURN_IF_ERROR(
        CheckDimension("output_dimension", dimension_, response));
    std::string json = absl::StrCat("{\"id\":", Json(id_).dump(),
                                    ",\"response_type\":"
                                    "\"embeddings_by_type\",\"embeddings\":{");
    for (const EmbeddingType& type : kEmbeddingTypes) {
      if (std::ranges::count(types_, type.name) == 0) continue;
      absl::StrAppend(&json, json.back() == '{' ? "\"" : ",\"",
                      ToAbsl(type.name), "\":");
      AppendRows(response.vectors(), response.embedding_dim() * sizeof(float),
                 type.append, json);
    }
    std::int64_t num_words = 0;
    for (const std::string& text : texts_) num_words += CountWords(text);
    absl::StrAppend(&json, "},\"texts\":", Json(texts_).dump(),
                    ",\"meta\":{\"api_version\":{\"version\":\"2\"},"
                    "\"billed_units\":{\"input_tokens\":",
                    num_words, "}}}");
    return json;
  }

 private:
  void ReadTypes(ThirdPartyJson& body) {
    types_ = body.Texts("embedding_types");
    if (types_.empty()) types_.emplace_back("float");
    for (std::size_t i = 0; i < types_.size(); ++i) {
      if (std::ranges::count(kEmbeddingTypes, types_[i], &EmbeddingType::name) >
          0) {
        continue;
      }
      body.Fail(FieldError("INVALID_FIELD", ItemName("embedding_types", i),
                           "must be float, int8 or base64"));
    }
  }

  // Adds texts_, cut as the body says; the response repeats them whole.
  void AddTexts(ThirdPartyJson& body, v1::EmbedTextsRequest& embed) {
    constexpr Cut kCuts[] = {Cut::kEnd, Cut::kStart, Cut::kNone};
    const Cut cut = kCuts[body.Choice("truncate", {"END", "START", "NONE"})];
    const TextSize size{limits_.max_text_bytes, body.Number("max_tokens")};
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      if (cut == Cut::kNone && size.max_words > 0 &&
          CountWords(texts_[i]) > size.max_words) {
        body.Fail(FieldError(
            "TEXT_TOO_LONG", ItemName("texts", i),
            absl::StrFormat("more words than max_tokens, %d", size.max_words)));
      }
      embed.add_texts(std::string(Truncated(size, cut, texts_[i])));
    }
  }

  const std::string id_ = IdOf(request_);
  std::vector<std::string> types_;
  std::vector<std::string> texts_;
  std::int64_t dimension_ = 0;  // 0 = whatever the model has
};

std::string WriteCohereError(const absl::Status& status, int /*http_code*/) {
  const std::string message =
      WithTheirName(ToStd(status.message()), "titles", "documents");
  return Json{{"message", message}, {"detail", message}}.dump();
}

}  // namespace

const FormatFunctions formats::kCohereRerank = {&MakeFormatOf<CohereRerank>,
                                                &WriteCohereError};
const FormatFunctions formats::kCohereEmbed = {&MakeFormatOf<CohereEmbed>,
                                               &WriteCohereError};

}  // namespace semrank
