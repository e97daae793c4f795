#include "client/embedding_output.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "client/output.h"
#include "client/vectors.h"

namespace semrank {
namespace {

std::string Numbers(const std::vector<float>& vector) {
  std::string text;
  for (const float number : vector) {
    if (!text.empty()) text += ' ';
    text += ShortestText(number);
  }
  return text;
}

}  // namespace

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
    row.push_back(Numbers(FloatVector(response, i)));
    table.AddRow(std::move(row));
  }
  return table;
}

std::string EmbeddingJsonLines(const TextList& texts,
                               const v1::EmbedTextsResponse& response) {
  std::string lines;
  for (std::size_t i = 0; i < texts.texts.size(); ++i) {
    nlohmann::ordered_json object;
    if (!texts.ids.empty() && !texts.ids[i].empty()) {
      object["id"] = texts.ids[i];
    }
    object["text"] = texts.texts[i];
    auto numbers = nlohmann::ordered_json::array();
    for (const float number : FloatVector(response, i)) {
      numbers.push_back(ShortestDouble(number));
    }
    object["vector"] = std::move(numbers);
    lines += ToJsonLine(object);
  }
  return lines;
}

}  // namespace semrank
