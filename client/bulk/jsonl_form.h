// Lines of JSON for the programs that import vectors.
//
//   plain          {"id": "7", "text": ..., "vector": [...]}
//   elasticsearch  the two lines of its bulk API, also OpenSearch's:
//                  {"index": {"_id": "7"}} and {"text": ..., "vector": [...]}
//   vespa          {"put": "id:NAMESPACE:TYPE::7", "fields": {"text": ...,
//                  "vector": [...]}}, a tensor<float>(x[N]), for `vespa feed`
//   qdrant         {"id": 7, "vector": [...], "payload": {"id": "7", "text":
//                  ...}}, a point; its ids are numbers or UUIDs, so another id
//                  becomes the UUID (version 8, RFC 9562) of its fingerprint
#ifndef SEMRANK_CLIENT_BULK_JSONL_FORM_H_
#define SEMRANK_CLIENT_BULK_JSONL_FORM_H_

#include <optional>
#include <string>
#include <string_view>

#include "client/input/text_list.h"
#include "semrank/v1/embedding_service.pb.h"

namespace semrank {

enum class JsonlStyle { kPlain, kElasticsearch, kVespa, kQdrant };

inline constexpr std::string_view kJsonlStyles =
    "plain, elasticsearch, vespa or qdrant";

// By its name; nothing for others.
std::optional<JsonlStyle> FindJsonlStyle(std::string_view name);

struct JsonlForm {
  JsonlStyle style = JsonlStyle::kPlain;
  std::string text_field = "text";
  std::string vector_field = "vector";  // qdrant: always "vector"
  std::string vespa_type = "doc:doc";   // NAMESPACE:TYPE
};

// The texts, all with ids; `response` holds their vectors, as in
// embedding_output.h.
std::string JsonlRows(const JsonlForm& form, const TextList& texts,
                      const v1::EmbedTextsResponse& response);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_BULK_JSONL_FORM_H_
