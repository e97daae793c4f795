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

#include "client/output/output.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

// Element i of a vector: little-endian, on any machine.
float Element(std::string_view vector, std::size_t i) {
  unsigned char bytes[sizeof(float)];
  std::memcpy(bytes, vector.data() + i * sizeof(float), sizeof(float));
  return std::bit_cast<float>(bytes[0] | std::uint32_t{bytes[1]} << 8 |
                              std::uint32_t{bytes[2]} << 16 |
                              std::uint32_t{bytes[3]} << 24);
}

std::size_t NumElements(std::string_view vector) {
  return vector.size() / sizeof(float);
}

std::string Elements(std::string_view vector) {
  std::string text;
  for (std::size_t i = 0; i < NumElements(vector); ++i) {
    if (!text.empty()) text += ' ';
    text += ShortestText(Element(vector, i));
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

void AppendJsonElements(std::string_view vector, std::string& text) {
  const std::size_t num_elements = NumElements(vector);
  const std::size_t before = text.size();
  text.resize(before + num_elements * kMaxElementBytes);
  // Written into the string's own memory. With each number formatted once,
  // 20,000 vectors of 256 dimensions take 1.0 s of CPU instead of 2.75 s
  // (server/PERFORMANCE.md).
  char* end = text.data() + before;
  for (std::size_t i = 0; i < num_elements; ++i) {
    if (i > 0) *end++ = ',';
    end = WriteElement(Element(vector, i), end);
  }
  text.resize(end - text.data());
}

std::string EmbeddingJsonLines(const EmbeddedTexts& embedded) {
  std::string lines;
  for (std::size_t i = 0; i < embedded.texts.size(); ++i) {
    nlohmann::ordered_json object;
    if (!embedded.id(i).empty()) object["id"] = embedded.id(i);
    object["text"] = embedded.texts[i];
    object["vector"] = nlohmann::ordered_json::array();
    const std::string line = ToJsonLine(object);
    // The vector is the last field, so its elements belong before "]}".
    const std::size_t place = line.size() - std::string_view("]}\n").size();
    lines.append(line, 0, place);
    AppendJsonElements(embedded.vector(i), lines);
    lines.append(line, place);
  }
  return lines;
}

}  // namespace semrank
