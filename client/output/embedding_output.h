// Vectors of texts as programs read them. `response` holds the vectors of
// `texts`, in float32, and is checked (response_check.h). Numbers have the
// digits that it takes to read back the same float.
#ifndef SEMRANK_CLIENT_OUTPUT_EMBEDDING_OUTPUT_H_
#define SEMRANK_CLIENT_OUTPUT_EMBEDDING_OUTPUT_H_

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "client/input/text_list.h"
#include "client/output/table.h"
#include "semrank/v1/embedding_service.pb.h"

namespace semrank {

// Columns id (if any text has one), text, and vector: "0.1 -0.2 ...".
Table EmbeddingTable(const TextList& texts,
                     const v1::EmbedTextsResponse& response);

// The numbers of vector `row`.
nlohmann::ordered_json JsonVector(const v1::EmbedTextsResponse& response,
                                  std::size_t row);

// A line {"id": ..., "text": ..., "vector": [...]} for each text, "id" where
// there is one.
std::string EmbeddingJsonLines(const TextList& texts,
                               const v1::EmbedTextsResponse& response);

// What a piece of a stream embedded of `texts`, without those that could not
// be: `piece` is of all texts and is checked.
struct EmbeddedTexts {
  TextList texts;
  v1::EmbedTextsResponse response;
};
EmbeddedTexts TakeEmbedded(const TextList& texts,
                           const v1::EmbedTextsStreamResponse& piece);

// "not embedded: text 7 (id): why\n" for each problem of the piece.
std::string DescribeProblems(const TextList& texts,
                             const v1::EmbedTextsStreamResponse& piece);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_OUTPUT_EMBEDDING_OUTPUT_H_
