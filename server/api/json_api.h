// The calls of the HTTP port: which path is which method, and in whose form.
//
//   /v1/rank, explain, embed, search, put, put_stream, get, delete, model,
//   models, reload, limits     the API's methods as JSON (json_format). POST;
//                              those of ModelService that only read take GET
//                              too.
//   /v1/embeddings, GET /v1/models             as OpenAI (openai_format)
//   /v1/rerank, /v2/rerank     as Cohere and Jina (rerank_format)
//   /embed, /rerank, /info     as Text Embeddings Inference (tei_format)
//
//   Errors   the HTTP code of the same meaning; the body is google.rpc.Status,
//            or what clients of the other API expect.
//   Checks   keys, limits, admission and counters are those of gRPC (api_call).
#ifndef SEMRANK_SERVER_API_JSON_API_H_
#define SEMRANK_SERVER_API_JSON_API_H_

#include "server/api/api_call.h"

namespace semrank {

// The parts must outlive the server.
HttpCalls JsonApi(const ServerParts& parts, const ApiOptions& options);

}  // namespace semrank

#endif  // SEMRANK_SERVER_API_JSON_API_H_
