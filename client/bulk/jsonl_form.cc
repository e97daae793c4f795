#include "client/bulk/jsonl_form.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "client/output/embedding_output.h"
#include "client/output/output.h"
#include "model/base/fingerprint.h"

namespace semrank {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kStyleNames[] = {"plain", "elasticsearch", "vespa",
                                            "qdrant"};

bool IsUuid(std::string_view id) {
  if (id.size() != 36) return false;
  for (std::size_t i = 0; i < id.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? id[i] != '-' : !absl::ascii_isxdigit(id[i])) return false;
  }
  return true;
}

// Version 8 is free for hashes such as this.
std::string UuidOf(std::string_view id) {
  const Fingerprint bits = BytesFingerprint(id);
  return absl::StrFormat("%08x-%04x-8%03x-%04x-%012x", bits.hi >> 32,
                         bits.hi >> 16 & 0xffff, bits.hi & 0xfff,
                         (bits.lo >> 48 & 0x3fff) | 0x8000,
                         bits.lo & 0xffff'ffff'ffff);
}

Json QdrantId(const std::string& id) {
  std::uint64_t number = 0;
  std::from_chars(id.data(), id.data() + id.size(), number);
  // "007" and "7" are two documents.
  if (std::to_string(number) == id) return number;
  return IsUuid(id) ? id : UuidOf(id);
}

std::string Lines(const JsonlForm& form, const std::string& id,
                  const std::string& text, Json vector) {
  Json fields = {{form.text_field, text}};
  switch (form.style) {
    case JsonlStyle::kPlain:
      return ToJsonLine({{"id", id},
                         {form.text_field, text},
                         {form.vector_field, std::move(vector)}});
    case JsonlStyle::kElasticsearch:
      fields[form.vector_field] = std::move(vector);
      return ToJsonLine({{"index", {{"_id", id}}}}) + ToJsonLine(fields);
    case JsonlStyle::kVespa:
      fields[form.vector_field] = std::move(vector);
      return ToJsonLine(
          {{"put", absl::StrFormat("id:%s::%s", form.vespa_type, id)},
           {"fields", std::move(fields)}});
    case JsonlStyle::kQdrant:
      break;
  }
  return ToJsonLine({{"id", QdrantId(id)},
                     {"vector", std::move(vector)},
                     {"payload", {{"id", id}, {form.text_field, text}}}});
}

}  // namespace

std::optional<JsonlStyle> FindJsonlStyle(std::string_view name) {
  const auto* const found =
      std::find(std::begin(kStyleNames), std::end(kStyleNames), name);
  if (found == std::end(kStyleNames)) return std::nullopt;
  return static_cast<JsonlStyle>(found - std::begin(kStyleNames));
}

std::string JsonlRows(const JsonlForm& form, const TextList& texts,
                      const v1::EmbedTextsResponse& response) {
  std::string rows;
  for (std::size_t i = 0; i < texts.texts.size(); ++i) {
    rows += Lines(form, texts.ids[i], texts.texts[i], JsonVector(response, i));
  }
  return rows;
}

}  // namespace semrank
