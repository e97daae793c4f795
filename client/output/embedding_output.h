// Prints vectors as tables and JSON. `response` holds the vectors of `texts` in
// float32 and must be checked (response_check.h). Numbers parse to the same
// float and are the shortest such, in JSON rarely a digit longer.
#ifndef SEMRANK_CLIENT_OUTPUT_EMBEDDING_OUTPUT_H_
#define SEMRANK_CLIENT_OUTPUT_EMBEDDING_OUTPUT_H_

#include <cstddef>
#include <string>

#include "client/input/text_reader.h"
#include "client/output/table.h"
#include "semrank/v1/embedding_service.pb.h"

namespace semrank {

// Columns id (if any text has one), text, and vector: "0.1 -0.2 ...".
Table EmbeddingTable(const TextList& texts,
                     const v1::EmbedTextsResponse& response);

// Appends the elements of vector `row` as they stand in a JSON array:
// "0.1,-0.2". Each is formatted once; by way of a JSON value it took three
// times.
void AppendJsonElements(const v1::EmbedTextsResponse& response, std::size_t row,
                        std::string& text);

// A line {"id": ..., "text": ..., "vector": [...]} per text; "id" only if there
// is one.
std::string EmbeddingJsonLines(const TextList& texts,
                               const v1::EmbedTextsResponse& response);

// The texts that a response of a stream embeds, and their vectors; texts with
// problems are left out. `chunk` is a checked response for all of `texts`.
struct EmbeddedTexts {
  TextList texts;
  v1::EmbedTextsResponse response;
};
EmbeddedTexts TakeEmbedded(const TextList& texts,
                           const v1::EmbedTextsStreamResponse& chunk);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_OUTPUT_EMBEDDING_OUTPUT_H_
