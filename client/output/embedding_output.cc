#include "client/output/embedding_output.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
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

// "-1.17549435e-38" is the longest shortest text; a comma or ".0" follows.
constexpr std::size_t kMaxElementBytes = 18;

char* WriteAnyElement(float element, char* to) {
  char* const end = std::to_chars(to, to + kMaxElementBytes, element).ptr;
  // Importers that guess types would take "0" for an integer.
  const auto is_marked = [](char c) {
    return c == '.' || c == 'e' || c == 'n';
  };
  if (std::any_of(to, end, is_marked)) return end;
  return std::copy_n(".0", 2, end);
}

// "00" to "99".
constexpr std::array<char, 200> kPairs = [] {
  std::array<char, 200> pairs{};
  for (int i = 0; i < 100; ++i) {
    pairs[2 * i] = static_cast<char>('0' + i / 10);
    pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}();

void WritePair(std::uint32_t value, char* to) {
  std::memcpy(to, &kPairs[2 * value], 2);
}

// 9 digits.
void WriteDigits(std::uint32_t digits, char* to) {
  *to = static_cast<char>('0' + digits / 100'000'000);
  const std::uint32_t high = digits / 10'000 % 10'000;
  const std::uint32_t low = digits % 10'000;
  WritePair(high / 100, to + 1);
  WritePair(high % 100, to + 3);
  WritePair(low / 100, to + 5);
  WritePair(low % 100, to + 7);
}

// The element as text that reads back as the same float32, most often the
// shortest such. std::to_chars was half of the time for a file of JSON lines;
// for the elements of vectors of norm 1 this takes 0.57 of it: it rounds to 7,
// 8 and 9 digits and takes the first that is nearer to the element than to any
// other float32. 9 digits always are.
char* WriteElement(float element, char* to) {
  const float size = std::abs(element);
  // Also without the floats next to 1, which 7 digits round to it.
  if (!(size >= 1e-4F && size < 0.9999F)) return WriteAnyElement(element, to);
  constexpr double kPowers[] = {1e9, 1e10, 1e11, 1e12};
  const int num_zeros = (size < 0.1F) + (size < 0.01F) + (size < 0.001F);
  const double power = kPowers[num_zeros];
  const double exact = size * power;
  // Half the distance to the next float32, a little less than that for what the
  // arithmetic of doubles rounds. Below a power of two it is half as far.
  const auto bits = std::bit_cast<std::uint32_t>(size);
  const auto binade = std::bit_cast<float>(bits & 0x7f80'0000U);
  const double radius =
      binade * power * (size == binade ? 0x1.ffp-26 : 0x1.ffp-25);
  const auto nine = static_cast<std::uint32_t>(exact + 0.5);
  const auto eight = 10 * static_cast<std::uint32_t>(exact * 0.1 + 0.5);
  const auto seven = 100 * static_cast<std::uint32_t>(exact * 0.01 + 0.5);
  const bool takes_eight = std::abs(eight - exact) <= radius;
  const bool takes_seven = std::abs(seven - exact) <= radius;
  const std::uint32_t digits =
      takes_seven ? seven : (takes_eight ? eight : nine);
  const int num_digits = 9 - (takes_seven ? 2 : int{takes_eight});
  if (digits >= 1'000'000'000) return WriteAnyElement(element, to);
  *to = '-';
  to += element < 0;
  std::memcpy(to, "0.000", 5);  // a fixed length costs no call
  to += 2 + num_zeros;
  WriteDigits(digits, to);
  to += num_digits;
  while (to[-1] == '0') --to;
  return to;
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
  const std::vector<float> vector = FloatVector(response, row);
  const std::size_t before = text.size();
  text.resize(before + vector.size() * kMaxElementBytes);
  // Written into the string's own memory. With each number formatted once,
  // 20,000 vectors of 256 dimensions take 1.0 s of CPU instead of 2.75 s
  // (server/PERFORMANCE.md).
  char* end = text.data() + before;
  for (const float element : vector) {
    if (end != text.data() + before) *end++ = ',';
    end = WriteElement(element, end);
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
