// OpenAI's embeddings API, as its clients and the products that take an "OpenAI
// compatible" server speak it.
//
//   POST /v1/embeddings  model (a served one; empty = the default), input (a
//                        text or a list), encoding_format (float, base64),
//                        dimensions (the model's, or absent), and beside
//                        OpenAI's own input_type (SideOf of third_party_json).
//   GET /v1/models       the models that are served.
//   Errors               {"error": {"message", "type", "param", "code"}}; the
//                        code is the reason of semrank's error.
#ifndef SEMRANK_SERVER_API_OPENAI_FORMAT_H_
#define SEMRANK_SERVER_API_OPENAI_FORMAT_H_

#include <memory>
#include <string>

#include "server/api/body_format.h"

namespace semrank {

// The format of EmbedTexts.
std::unique_ptr<BodyFormat> MakeOpenAiEmbeddings(const FormatInput& input);
// The format of ListModels: OpenAI's list for GET, the API's own for POST.
std::unique_ptr<BodyFormat> MakeModelList(const FormatInput& input);
std::string WriteOpenAiError(const absl::Status& status, int http_code);

}  // namespace semrank

#endif  // SEMRANK_SERVER_API_OPENAI_FORMAT_H_
