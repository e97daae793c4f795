#include "client/bulk/embedding_file.h"

#include <array>
#include <cstddef>
#include <nlohmann/json.hpp>

#include "absl/strings/str_format.h"
#include "client/output/embedding_output.h"

namespace semrank {
namespace {

struct NamedFormat {
  std::string_view name;
  EmbeddingFileFormat format;
};

constexpr std::array<NamedFormat, 5> kFormats = {{
    {"npy", EmbeddingFileFormat::kNpy},
    {"fvecs", EmbeddingFileFormat::kFvecs},
    {"jsonl", EmbeddingFileFormat::kJsonl},
    {"tsv", EmbeddingFileFormat::kTsv},
    {"safetensors", EmbeddingFileFormat::kSafetensors},
}};

// The vectors after a header then stand as SIMD loads like them.
constexpr std::size_t kAlignment = 64;
// More than the digits of three 64-bit numbers.
constexpr std::size_t kRoomForNumbers = 64;

std::string LittleEndian(std::uint64_t value, int num_bytes) {
  std::string bytes;
  for (int i = 0; i < num_bytes; ++i) {
    bytes += static_cast<char>(value >> (8 * i) & 0xff);
  }
  return bytes;
}

// Blanks up to a length that depends on the length of `empty` alone, the same
// text without rows, and makes `before` + length whole blocks.
void Pad(std::size_t before, std::size_t empty, std::string& text) {
  const std::size_t blocks =
      (before + empty + kRoomForNumbers + kAlignment - 1) / kAlignment;
  text.resize(blocks * kAlignment - before, ' ');
}

std::string NpyShape(const EmbeddingFileFacts& facts, std::int64_t num_rows) {
  return absl::StrFormat(
      "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", num_rows,
      facts.embedding_dim);
}

std::string NpyHeader(const EmbeddingFileFacts& facts, std::int64_t num_rows) {
  const std::string magic("\x93NUMPY\x01\x00", 8);
  constexpr std::size_t kLengthBytes = 2;
  std::string text = NpyShape(facts, num_rows);
  Pad(magic.size() + kLengthBytes, NpyShape(facts, 0).size(), text);
  text.back() = '\n';
  return magic + LittleEndian(text.size(), kLengthBytes) + text;
}

std::string SafetensorsText(const EmbeddingFileFacts& facts,
                            std::int64_t num_rows) {
  const std::int64_t num_bytes =
      num_rows * facts.embedding_dim * static_cast<std::int64_t>(sizeof(float));
  nlohmann::ordered_json header;
  header["__metadata__"] = {{"model", facts.model},
                            {"version", std::to_string(facts.version)},
                            {"side", facts.side}};
  header["vectors"]["dtype"] = "F32";
  header["vectors"]["shape"] = {num_rows, facts.embedding_dim};
  header["vectors"]["data_offsets"] = {0, num_bytes};
  return header.dump(/*indent=*/-1, ' ', /*ensure_ascii=*/true,
                     nlohmann::json::error_handler_t::replace);
}

std::string SafetensorsHeader(const EmbeddingFileFacts& facts,
                              std::int64_t num_rows) {
  constexpr std::size_t kLengthBytes = 8;
  std::string text = SafetensorsText(facts, num_rows);
  Pad(kLengthBytes, SafetensorsText(facts, 0).size(), text);
  return LittleEndian(text.size(), kLengthBytes) + text;
}

std::string FvecsRows(const v1::EmbedTextsResponse& response) {
  const std::string dim = LittleEndian(response.embedding_dim(), 4);
  const std::size_t row_bytes = response.embedding_dim() * sizeof(float);
  std::string rows;
  for (std::size_t i = 0; i + row_bytes <= response.vectors().size();
       i += row_bytes) {
    rows += dim;
    rows.append(response.vectors(), i, row_bytes);
  }
  return rows;
}

}  // namespace

std::optional<EmbeddingFileFormat> FindEmbeddingFileFormat(
    std::string_view name) {
  for (const NamedFormat& named : kFormats) {
    if (named.name == name) return named.format;
  }
  return std::nullopt;
}

std::string_view NameOf(EmbeddingFileFormat format) {
  for (const NamedFormat& named : kFormats) {
    if (named.format == format) return named.name;
  }
  return "";
}

bool HasIdsBeside(EmbeddingFileFormat format) {
  return format != EmbeddingFileFormat::kJsonl &&
         format != EmbeddingFileFormat::kTsv;
}

std::string EmbeddingFileHeader(const EmbeddingFileFacts& facts,
                                std::int64_t num_rows) {
  switch (facts.format) {
    case EmbeddingFileFormat::kNpy:
      return NpyHeader(facts, num_rows);
    case EmbeddingFileFormat::kSafetensors:
      return SafetensorsHeader(facts, num_rows);
    default:
      return "";
  }
}

std::string EmbeddingFileRows(EmbeddingFileFormat format, const TextList& texts,
                              const v1::EmbedTextsResponse& response,
                              const JsonlForm& form) {
  switch (format) {
    case EmbeddingFileFormat::kFvecs:
      return FvecsRows(response);
    case EmbeddingFileFormat::kJsonl:
      return JsonlRows(form, texts, response);
    case EmbeddingFileFormat::kTsv:
      return EmbeddingTable(texts, response).ToTsv(/*escape_controls=*/false);
    default:  // npy and safetensors have the rows as they are on the wire
      return response.vectors();
  }
}

}  // namespace semrank
