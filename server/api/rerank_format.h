// The rerank APIs of Cohere (v1 and v2) and Jina, which LiteLLM, LangChain,
// LlamaIndex and others speak, and of Text Embeddings Inference (tei_format).
//
//   POST /v1/rerank  model (a served one; empty = the default), query,
//        /v2/rerank  documents (texts, or objects with rank_fields, by default
//                    "text"), top_n, return_documents. Documents beyond
//                    --max_text_bytes are cut, as these APIs do.
//   Scores           those of Rank: cosines, not probabilities.
//   Errors           {"message", "detail"}: clients of both show one of them.
#ifndef SEMRANK_SERVER_API_RERANK_FORMAT_H_
#define SEMRANK_SERVER_API_RERANK_FORMAT_H_

#include <memory>
#include <string>

#include "semrank/v1/ranking_service.pb.h"
#include "server/api/body_format.h"

namespace semrank {

// The format of Rank.
std::unique_ptr<BodyFormat> MakeCohereRerank(const FormatInput& input);
std::string WriteCohereError(const absl::Status& status, int http_code);

// OK when every document was scored, else the first one's error: a client of
// these APIs would not notice that one is missing.
absl::Status CheckAllRanked(const v1::RankResponse& response);

}  // namespace semrank

#endif  // SEMRANK_SERVER_API_RERANK_FORMAT_H_
