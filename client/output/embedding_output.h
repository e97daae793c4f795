// Prints vectors as tables and JSON. Numbers parse to the same float.
#ifndef SEMRANK_CLIENT_OUTPUT_EMBEDDING_OUTPUT_H_
#define SEMRANK_CLIENT_OUTPUT_EMBEDDING_OUTPUT_H_

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "client/output/table.h"
#include "model/data/text_reader.h"
#include "semrank/v1/embedding_service.pb.h"

namespace semrank {

// Texts with their vectors: views of a TextList and of a checked response
// (response_check.h).
struct EmbeddedTexts {
  std::span<const std::string> texts;
  std::span<const std::string> ids;  // parallel to `texts`, or empty
  std::string_view vectors;  // [texts.size(), embedding_dim], as on the wire
  std::size_t embedding_dim = 0;

  std::string_view id(std::size_t i) const {
    return ids.empty() ? std::string_view() : ids[i];
  }
  // Little-endian float32.
  std::string_view vector(std::size_t i) const {
    const std::size_t row_bytes = embedding_dim * sizeof(float);
    return vectors.substr(i * row_bytes, row_bytes);
  }
  EmbeddedTexts Slice(std::size_t first, std::size_t last) const;
};

// All of `texts`, with the vectors of a response in float32.
EmbeddedTexts AllEmbedded(const TextList& texts,
                          const v1::EmbedTextsResponse& response);

// Calls `take` with each run of adjacent texts that `chunk`, a checked response
// in float32, embeds: texts with problems lie between runs.
absl::Status ForEachEmbeddedRun(
    const TextList& texts, const v1::EmbedTextsStreamResponse& chunk,
    const std::function<absl::Status(const EmbeddedTexts&)>& take);

// Columns id (if any text has one), text, and vector: "0.1 -0.2 ...".
Table EmbeddingTable(const EmbeddedTexts& embedded);

// A line {"id": ..., "text": ..., "vector": [...]} per text; "id" only if there
// is one.
std::string EmbeddingJsonLines(const EmbeddedTexts& embedded);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_OUTPUT_EMBEDDING_OUTPUT_H_
