#include "client/bulk/embedding_file.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "client/output/embedding_output.h"
#include "client/output/output.h"
#include "model/base/fingerprint.h"
#include "model/base/strings.h"

namespace semrank {
namespace {

// Aligns the vectors after the header for SIMD loads.
constexpr std::size_t kAlignment = 64;
// Enough for the digits of three 64-bit numbers.
constexpr std::size_t kRoomForNumbers = 64;

// By shifts, so that the file is the same on a big-endian machine.
std::string LittleEndian(std::uint64_t value, int num_bytes) {
  std::string bytes;
  for (int i = 0; i < num_bytes; ++i) {
    bytes += static_cast<char>(value >> (8 * i) & 0xff);
  }
  return bytes;
}

// Pads a header with blanks to a length that depends only on `empty`, the
// length of the same header for 0 rows, and aligns the end of `before` +
// header.
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
  // The format wants a line break as the last byte of the header.
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

// Neither PostgreSQL nor SQL text can hold a NUL.
std::string WithoutNuls(std::string_view text) {
  std::string copy(text);
  std::ranges::replace(copy, '\0', ' ');
  return copy;
}

std::string CopyField(std::string_view text) {
  return absl::StrReplaceAll(
      WithoutNuls(text),
      {{"\\", "\\\\"}, {"\t", "\\t"}, {"\n", "\\n"}, {"\r", "\\r"}});
}

// Rows 0 to num_rows - 1 as append(i, rows) formats each.
template <typename AppendRow>
std::string FormatRows(std::size_t num_rows, ThreadPool* pool,
                       AppendRow append) {
  // Enough for each thread's share to be even, few enough to be worth a task.
  constexpr std::size_t kRowsPerTask = 128;
  std::vector<std::string> slices((num_rows + kRowsPerTask - 1) / kRowsPerTask);
  const auto format = [&](int slice, int) {
    const std::size_t begin = slice * kRowsPerTask;
    const std::size_t end = std::min(begin + kRowsPerTask, num_rows);
    for (std::size_t i = begin; i < end; ++i) {
      append(i, slices[slice]);
      // Rows are about equally long; growing would copy them.
      if (i == begin) {
        slices[slice].reserve(slices[slice].size() * (end - begin) * 9 / 8);
      }
    }
  };
  // Each task fills a string of its own, so the rows keep their order.
  const int num_slices = static_cast<int>(slices.size());
  if (pool != nullptr) {
    pool->ParallelFor(num_slices, format);
  } else {
    for (int slice = 0; slice < num_slices; ++slice) format(slice, 0);
  }
  return absl::StrJoin(slices, "");
}

std::string PgvectorRows(const TextList& texts,
                         const v1::EmbedTextsResponse& response,
                         ThreadPool* pool) {
  return FormatRows(
      texts.texts.size(), pool, [&](std::size_t i, std::string& rows) {
        rows +=
            CopyField(texts.ids[i]) + "\t" + CopyField(texts.texts[i]) + "\t[";
        AppendJsonElements(response, i, rows);
        rows += "]\n";
      });
}

constexpr std::string_view kSqlHeader =
    "CREATE TABLE IF NOT EXISTS documents(id TEXT PRIMARY KEY, text TEXT NOT "
    "NULL, vector BLOB NOT NULL);\n";

std::string SqlString(std::string_view text) {
  return "'" + absl::StrReplaceAll(WithoutNuls(text), {{"'", "''"}}) + "'";
}

// One transaction, because SQLite syncs the disk after each.
std::string SqlRows(const TextList& texts,
                    const v1::EmbedTextsResponse& response) {
  const std::size_t row_bytes = response.embedding_dim() * sizeof(float);
  std::string rows = "BEGIN;\n";
  for (std::size_t i = 0; i < texts.texts.size(); ++i) {
    rows +=
        "INSERT OR REPLACE INTO documents VALUES(" + SqlString(texts.ids[i]) +
        "," + SqlString(texts.texts[i]) + ",X'" +
        absl::BytesToHexString(ToAbsl(std::string_view(response.vectors())
                                          .substr(i * row_bytes, row_bytes))) +
        "');\n";
  }
  return rows + "COMMIT;\n";
}

bool IsUuid(std::string_view id) {
  if (id.size() != 36) return false;
  for (std::size_t i = 0; i < id.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? id[i] != '-' : !absl::ascii_isxdigit(id[i])) return false;
  }
  return true;
}

// UUID version 8 is for custom hashes.
// The same id gives the same UUID in every run, so importing twice replaces
// points.
std::string UuidOf(std::string_view id) {
  const Fingerprint bits = BytesFingerprint(id);
  return absl::StrFormat("%08x-%04x-8%03x-%04x-%012x", bits.hi >> 32,
                         bits.hi >> 16 & 0xffff, bits.hi & 0xfff,
                         (bits.lo >> 48 & 0x3fff) | 0x8000,
                         bits.lo & 0xffff'ffff'ffff);
}

nlohmann::ordered_json QdrantId(const std::string& id) {
  std::uint64_t number = 0;
  std::from_chars(id.data(), id.data() + id.size(), number);
  // "007" and "7" are different documents.
  if (std::to_string(number) == id) return number;
  return IsUuid(id) ? id : UuidOf(id);
}

// With an empty array for the vector, whose elements would cost as much again
// for each pass over them.
std::string LinesWithoutElements(const JsonlForm& form, const std::string& id,
                                 const std::string& text) {
  const auto vector = nlohmann::ordered_json::array();
  nlohmann::ordered_json fields = {{form.text_field, text}};
  switch (form.style) {
    case JsonlStyle::kPlain:
      return ToJsonLine(
          {{"id", id}, {form.text_field, text}, {form.vector_field, vector}});
    case JsonlStyle::kElasticsearch:
      fields[form.vector_field] = vector;
      return ToJsonLine({{"index", {{"_id", id}}}}) + ToJsonLine(fields);
    case JsonlStyle::kVespa:
      fields[form.vector_field] = vector;
      return ToJsonLine(
          {{"put", absl::StrFormat("id:%s::%s", form.vespa_type, id)},
           {"fields", std::move(fields)}});
    case JsonlStyle::kQdrant:
      break;
  }
  return ToJsonLine({{"id", QdrantId(id)},
                     {"vector", vector},
                     {"payload", {{"id", id}, {form.text_field, text}}}});
}

// Where the elements belong in such lines. The vector is the last field, except
// for Qdrant, where it follows an id that is a number or a UUID.
std::size_t PlaceOfElements(JsonlStyle style, std::string_view lines) {
  constexpr std::string_view kEmpty = "[]";
  const std::size_t array =
      style == JsonlStyle::kQdrant ? lines.find(kEmpty) : lines.rfind(kEmpty);
  return array + 1;
}

}  // namespace

std::string_view NameOf(EmbeddingFileFormat format) {
  switch (format) {
    case EmbeddingFileFormat::kNpy:
      return "npy";
    case EmbeddingFileFormat::kFvecs:
      return "fvecs";
    case EmbeddingFileFormat::kJsonl:
      return "jsonl";
    case EmbeddingFileFormat::kTsv:
      return "tsv";
    case EmbeddingFileFormat::kPgvector:
      return "pgvector";
    case EmbeddingFileFormat::kSql:
      return "sql";
    case EmbeddingFileFormat::kSafetensors:
      break;
  }
  return "safetensors";
}

bool HasIdsFile(EmbeddingFileFormat format) {
  return format == EmbeddingFileFormat::kNpy ||
         format == EmbeddingFileFormat::kFvecs ||
         format == EmbeddingFileFormat::kSafetensors;
}

std::string EmbeddingFileHeader(const EmbeddingFileFacts& facts,
                                std::int64_t num_rows) {
  switch (facts.format) {
    case EmbeddingFileFormat::kNpy:
      return NpyHeader(facts, num_rows);
    case EmbeddingFileFormat::kSafetensors:
      return SafetensorsHeader(facts, num_rows);
    case EmbeddingFileFormat::kSql:
      return std::string(kSqlHeader);
    default:
      return "";
  }
}

std::string JsonlRows(const JsonlForm& form, const TextList& texts,
                      const v1::EmbedTextsResponse& response,
                      ThreadPool* pool) {
  return FormatRows(
      texts.texts.size(), pool, [&](std::size_t i, std::string& rows) {
        const std::string lines =
            LinesWithoutElements(form, texts.ids[i], texts.texts[i]);
        const std::size_t place = PlaceOfElements(form.style, lines);
        rows.append(lines, 0, place);
        AppendJsonElements(response, i, rows);
        rows.append(lines, place);
      });
}

std::string EmbeddingFileRows(EmbeddingFileFormat format, const TextList& texts,
                              const v1::EmbedTextsResponse& response,
                              const JsonlForm& form, ThreadPool* pool) {
  switch (format) {
    case EmbeddingFileFormat::kFvecs:
      return FvecsRows(response);
    case EmbeddingFileFormat::kJsonl:
      return JsonlRows(form, texts, response, pool);
    case EmbeddingFileFormat::kTsv:
      return EmbeddingTable(texts, response).ToTsv(/*escape_controls=*/false);
    case EmbeddingFileFormat::kPgvector:
      return PgvectorRows(texts, response, pool);
    case EmbeddingFileFormat::kSql:
      return SqlRows(texts, response);
    default:  // npy and safetensors store the bytes of the wire
      return response.vectors();
  }
}

}  // namespace semrank
