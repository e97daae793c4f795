// The API of Hugging Face's Text Embeddings Inference, version 1.
//
//   POST /embed   inputs (a text or a list), prompt_name (third_party_json's
//                 SideOf), truncate. Vectors have length 1 whatever "normalize"
//                 says.
//   POST /rerank  query, texts, return_text, truncate. Scores are Rank's
//                 cosines whatever "raw_scores" says.
//   GET /info     the default model and the limits.
//   Errors        {"error", "error_type"}.
#ifndef SEMRANK_SERVER_API_TEI_FORMAT_H_
#define SEMRANK_SERVER_API_TEI_FORMAT_H_

#include <memory>
#include <string>

#include "server/api/body_format.h"

namespace semrank {

// The formats of EmbedTexts, Rank and GetModel.
std::unique_ptr<BodyFormat> MakeTeiEmbed(const FormatInput& input);
std::unique_ptr<BodyFormat> MakeTeiRerank(const FormatInput& input);
std::unique_ptr<BodyFormat> MakeTeiInfo(const FormatInput& input);
std::string WriteTeiEmbedError(const absl::Status& status, int http_code);
std::string WriteTeiRerankError(const absl::Status& status, int http_code);
std::string WriteTeiInfoError(const absl::Status& status, int http_code);

}  // namespace semrank

#endif  // SEMRANK_SERVER_API_TEI_FORMAT_H_
