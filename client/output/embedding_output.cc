#include "client/output/embedding_output.h"

#include <utility>
#include <vector>

#include "client/output/output.h"
#include "model/base/json_vectors.h"
#include "model/base/status_macros.h"
#include "model/text/utf8.h"

// EmbeddedTexts only points to texts, ids and the bytes of vectors, which the
// caller keeps: thousands of vectors are printed or written without a copy.
namespace semrank {
namespace {

// The shortest texts, for people who read or compare them. JSON is for programs
// and takes the faster AppendJsonElements.
std::string Elements(std::string_view vector) {
  std::string text;
  for (std::size_t i = 0; i < NumElements(vector); ++i) {
    if (!text.empty()) text += ' ';
    text += ShortestText(Element(vector, i));
  }
  return text;
}

}  // namespace

EmbeddedTexts EmbeddedTexts::Slice(std::size_t first, std::size_t last) const {
  const std::size_t row_bytes = embedding_dim * sizeof(float);
  return {
      .texts = texts.subspan(first, last - first),
      .ids = ids.empty() ? ids : ids.subspan(first, last - first),
      .vectors = vectors.substr(first * row_bytes, (last - first) * row_bytes),
      .embedding_dim = embedding_dim};
}

EmbeddedTexts AllEmbedded(const TextList& texts,
                          const v1::EmbedTextsResponse& response) {
  return {.texts = texts.texts,
          .ids = texts.ids,
          .vectors = response.vectors(),
          .embedding_dim = response.embedding_dim()};
}

absl::Status ForEachEmbeddedRun(
    const TextList& texts, const v1::EmbedTextsStreamResponse& chunk,
    const std::function<absl::Status(const EmbeddedTexts&)>& take) {
  const std::span<const std::string> ids = texts.ids;
  const EmbeddedTexts all = {
      .texts =
          std::span(texts.texts).subspan(chunk.first_text(), chunk.num_texts()),
      .ids = ids.empty() ? ids
                         : ids.subspan(chunk.first_text(), chunk.num_texts()),
      .vectors = chunk.vectors(),
      .embedding_dim = chunk.embedding_dim()};
  // The vectors of texts with problems are zeros, which would look like those
  // of texts without known features.
  // One element follows those of the texts, and ends the last run.
  std::vector<bool> bad(chunk.num_texts() + std::size_t{1}, false);
  for (const v1::Problem& problem : chunk.problems()) {
    bad[problem.index()] = true;
  }
  bad.back() = true;
  std::size_t first = 0;
  for (std::size_t i = 0; i < bad.size(); ++i) {
    if (!bad[i]) continue;
    if (first < i) SEMRANK_RETURN_IF_ERROR(take(all.Slice(first, i)));
    first = i + 1;
  }
  return absl::OkStatus();
}

Table EmbeddingTable(const EmbeddedTexts& embedded) {
  const bool with_ids = !embedded.ids.empty();
  Table table;
  if (with_ids) table.AddColumn("id");
  table.AddColumn("text");
  table.AddColumn("vector");
  for (std::size_t i = 0; i < embedded.texts.size(); ++i) {
    std::vector<std::string> row;
    if (with_ids) row.push_back(embedded.ids[i]);
    row.push_back(embedded.texts[i]);
    row.push_back(Elements(embedded.vector(i)));
    table.AddRow(std::move(row));
  }
  return table;
}

// Lines are appended as text, member by member: a tree of JSON values would
// hold each element of a vector on its own.
std::string EmbeddingJsonLines(const EmbeddedTexts& embedded) {
  std::string lines;
  for (std::size_t i = 0; i < embedded.texts.size(); ++i) {
    lines += '{';
    if (!embedded.id(i).empty()) {
      lines += "\"id\":";
      AppendJsonString(embedded.id(i), lines);
      lines += ',';
    }
    lines += "\"text\":";
    AppendJsonString(embedded.texts[i], lines);
    lines += ",\"vector\":[";
    AppendJsonElements(embedded.vector(i), lines);
    lines += "]}\n";
  }
  return lines;
}

}  // namespace semrank
