#include "client/output/embedding_output.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "client/lib/semrank_client.h"
#include "client/output/output.h"

namespace semrank {
namespace {

std::string Elements(const std::vector<float>& vector) {
  std::string text;
  for (const float element : vector) {
    if (!text.empty()) text += ' ';
    text += ShortestText(element);
  }
  return text;
}

}  // namespace

EmbeddedTexts TakeEmbedded(const TextList& texts,
                           const v1::EmbedTextsStreamResponse& chunk) {
  // The server's vectors of these texts are zeros, which would look like the
  // vectors of texts without known features.
  std::vector<bool> bad(chunk.num_texts(), false);
  for (const v1::Problem& problem : chunk.problems()) {
    bad[problem.index()] = true;
  }
  const std::size_t row_bytes = chunk.embedding_dim() * sizeof(float);
  EmbeddedTexts embedded;
  embedded.response.set_embedding_dim(chunk.embedding_dim());
  embedded.response.set_encoding(chunk.encoding());
  std::string& vectors = *embedded.response.mutable_vectors();
  for (std::size_t i = 0; i < bad.size(); ++i) {
    if (bad[i]) continue;
    const std::size_t text = chunk.first_text() + i;
    embedded.texts.texts.push_back(texts.texts[text]);
    if (!texts.ids.empty()) embedded.texts.ids.push_back(texts.ids[text]);
    vectors.append(chunk.vectors(), i * row_bytes, row_bytes);
  }
  return embedded;
}

Table EmbeddingTable(const TextList& texts,
                     const v1::EmbedTextsResponse& response) {
  const bool with_ids = !texts.ids.empty();
  Table table;
  if (with_ids) table.AddColumn("id");
  table.AddColumn("text");
  table.AddColumn("vector");
  for (std::size_t i = 0; i < texts.texts.size(); ++i) {
    std::vector<std::string> row;
    if (with_ids) row.push_back(texts.ids[i]);
    row.push_back(texts.texts[i]);
    row.push_back(Elements(FloatVector(response, i)));
    table.AddRow(std::move(row));
  }
  return table;
}

void AppendJsonElements(const v1::EmbedTextsResponse& response, std::size_t row,
                        std::string& text) {
  // "-1.17549435e-38" is the longest shortest text; a comma or ".0" follows.
  constexpr std::size_t kMaxElementBytes = 18;
  const std::vector<float> vector = FloatVector(response, row);
  const std::size_t before = text.size();
  text.resize(before + vector.size() * kMaxElementBytes);
  // Written into the string's own memory. With each number formatted once,
  // 20,000 vectors of 256 dimensions take 1.0 s of CPU instead of 2.75 s
  // (server/PERFORMANCE.md).
  char* end = text.data() + before;
  for (const float element : vector) {
    if (end != text.data() + before) *end++ = ',';
    const char* const begin = end;
    end = std::to_chars(end, text.data() + text.size(), element).ptr;
    // Importers that guess types would take "0" for an integer.
    if (std::none_of(begin, static_cast<const char*>(end),
                     [](char c) { return c == '.' || c == 'e' || c == 'n'; })) {
      *end++ = '.';
      *end++ = '0';
    }
  }
  text.resize(end - text.data());
}

std::string EmbeddingJsonLines(const TextList& texts,
                               const v1::EmbedTextsResponse& response) {
  std::string lines;
  for (std::size_t i = 0; i < texts.texts.size(); ++i) {
    nlohmann::ordered_json object;
    if (!texts.id(i).empty()) object["id"] = texts.id(i);
    object["text"] = texts.texts[i];
    object["vector"] = nlohmann::ordered_json::array();
    const std::string line = ToJsonLine(object);
    // The vector is the last field, so its elements belong before "]}".
    const std::size_t place = line.size() - std::string_view("]}\n").size();
    lines.append(line, 0, place);
    AppendJsonElements(response, i, lines);
    lines.append(line, place);
  }
  return lines;
}

}  // namespace semrank
