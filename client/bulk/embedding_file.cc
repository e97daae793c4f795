#include "client/bulk/embedding_file.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "model/base/fingerprint.h"
#include "model/base/json_vectors.h"
#include "model/base/strings.h"
#include "model/text/utf8.h"

// Layouts, in bytes; all numbers are little-endian:
//
//   npy          magic, version, 2 bytes for the length of the header, header,
//                rows of floats
//   safetensors  8 bytes for the length of the header, header, rows of floats
//   fvecs        for each row 4 bytes for the dimension, then floats
//
// The others are text. Headers are written twice: for 0 rows at the start, and
// with the number of rows at the end, over the first one. So their length must
// not depend on that number.
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

// The format repeats the dimension before every vector.
void AppendFvecsRows(const EmbeddedTexts& embedded, std::string& rows) {
  const std::string dim = LittleEndian(embedded.embedding_dim, 4);
  for (std::size_t i = 0; i < embedded.texts.size(); ++i) {
    rows += dim;
    rows += embedded.vector(i);
  }
}

// Neither PostgreSQL nor SQL text can hold a NUL.
std::string WithoutNuls(std::string_view text) {
  std::string copy(text);
  std::ranges::replace(copy, '\0', ' ');
  return copy;
}

// COPY ends a field at a tab and a row at a line break, and reads a backslash
// as the start of an escape.
std::string CopyField(std::string_view text) {
  return absl::StrReplaceAll(
      WithoutNuls(text),
      {{"\\", "\\\\"}, {"\t", "\\t"}, {"\n", "\\n"}, {"\r", "\\r"}});
}

// Adds rows 0 to num_rows - 1, as append(i, row) formats each.
template <typename AppendRow>
void FormatRows(std::size_t num_rows, ThreadPool* pool, RowParts& rows,
                AppendRow append) {
  // Enough for each thread's share to be even, few enough to be worth a task.
  constexpr std::size_t kRowsPerTask = 128;
  const std::size_t num_slices = (num_rows + kRowsPerTask - 1) / kRowsPerTask;
  // Each task fills a part of its own, so the rows keep their order.
  const std::span<std::string> parts = rows.Add(num_slices);
  const auto format = [&](int slice, int) {
    std::string& part = parts[slice];
    part.clear();
    const std::size_t begin = slice * kRowsPerTask;
    const std::size_t end = std::min(begin + kRowsPerTask, num_rows);
    for (std::size_t i = begin; i < end; ++i) {
      append(i, part);
      // Rows are about equally long; growing would copy them.
      if (i == begin) part.reserve(part.size() * (end - begin) * 9 / 8);
    }
  };
  if (pool != nullptr) {
    pool->ParallelFor(static_cast<int>(num_slices), format);
  } else {
    for (std::size_t i = 0; i < num_slices; ++i) format(static_cast<int>(i), 0);
  }
}

// For PostgreSQL's COPY: id, text and vector, with a tab between them. The
// vector is a text such as [0.1,-0.2], which pgvector parses.
void AppendPgvectorRows(const EmbeddedTexts& embedded, ThreadPool* pool,
                        RowParts& rows) {
  FormatRows(embedded.texts.size(), pool, rows,
             [&](std::size_t i, std::string& row) {
               row += CopyField(embedded.ids[i]) + "\t" +
                      CopyField(embedded.texts[i]) + "\t[";
               AppendJsonElements(embedded.vector(i), row);
               row += "]\n";
             });
}

// Importing a file twice replaces its rows.
constexpr std::string_view kSqlHeader =
    "CREATE TABLE IF NOT EXISTS documents(id TEXT PRIMARY KEY, text TEXT NOT "
    "NULL, vector BLOB NOT NULL);\n";

std::string SqlString(std::string_view text) {
  return "'" + absl::StrReplaceAll(WithoutNuls(text), {{"'", "''"}}) + "'";
}

// One transaction, because SQLite syncs the disk after each.
void AppendSqlRows(const EmbeddedTexts& embedded, std::string& rows) {
  rows += "BEGIN;\n";
  for (std::size_t i = 0; i < embedded.texts.size(); ++i) {
    rows += "INSERT OR REPLACE INTO documents VALUES(" +
            SqlString(embedded.ids[i]) + "," + SqlString(embedded.texts[i]) +
            ",X'" + absl::BytesToHexString(ToAbsl(embedded.vector(i))) +
            "');\n";
  }
  rows += "COMMIT;\n";
}

// Qdrant accepts upper and lower case.
bool IsUuid(std::string_view id) {
  if (id.size() != 36) return false;
  for (std::size_t i = 0; i < id.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? id[i] != '-' : !absl::ascii_isxdigit(id[i])) return false;
  }
  return true;
}

// UUID version 8 is for custom hashes. The same id gives the same UUID in every
// run, so importing twice replaces points.
std::string UuidOf(std::string_view id) {
  const Fingerprint bits = BytesFingerprint(id);
  // The third group begins with the version, 8; the two highest bits of the
  // fourth are the variant, 10 (RFC 9562).
  return absl::StrFormat("%08x-%04x-8%03x-%04x-%012x", bits.hi >> 32,
                         bits.hi >> 16 & 0xffff, bits.hi & 0xfff,
                         (bits.lo >> 48 & 0x3fff) | 0x8000,
                         bits.lo & 0xffff'ffff'ffff);
}

// Qdrant takes numbers and UUIDs as they are, and nothing else.
void AppendQdrantId(const std::string& id, std::string& row) {
  std::uint64_t number = 0;
  std::from_chars(id.data(), id.data() + id.size(), number);
  // "007" and "7" are different documents.
  if (std::to_string(number) == id) {
    row += id;
  } else {
    AppendJsonString(IsUuid(id) ? id : UuidOf(id), row);
  }
}

// Lines of one form, appended as text: by way of JSON values they took longer
// than the vector's elements.
class JsonlWriter {
 public:
  explicit JsonlWriter(const JsonlForm& form) : form_(form) {
    AppendJsonString(form.text_field, text_key_);
    text_key_ += ':';
    AppendJsonString(form.vector_field, vector_key_);
    vector_key_ += ":[";
  }

  void AppendRow(const std::string& id, std::string_view text,
                 std::string_view vector, std::string& row) const {
    switch (form_.style) {
      case JsonlStyle::kPlain:
        row += "{\"id\":";
        AppendJsonString(id, row);
        row += ',';
        AppendTextAndVector(text, vector, row);
        row += "}\n";
        break;
      case JsonlStyle::kElasticsearch:
        row += "{\"index\":{\"_id\":";
        AppendJsonString(id, row);
        row += "}}\n{";
        AppendTextAndVector(text, vector, row);
        row += "}\n";
        break;
      case JsonlStyle::kVespa:
        row += "{\"put\":";
        AppendJsonString("id:" + form_.vespa_type + "::" + id, row);
        row += ",\"fields\":{";
        AppendTextAndVector(text, vector, row);
        row += "}}\n";
        break;
      case JsonlStyle::kQdrant:
        row += "{\"id\":";
        AppendQdrantId(id, row);
        row += ",\"vector\":[";
        AppendJsonElements(vector, row);
        row += "],\"payload\":{\"id\":";
        AppendJsonString(id, row);
        row += ',';
        AppendText(text, row);
        row += "}}\n";
        break;
    }
  }

 private:
  void AppendText(std::string_view text, std::string& row) const {
    row += text_key_;
    AppendJsonString(text, row);
  }
  void AppendTextAndVector(std::string_view text, std::string_view vector,
                           std::string& row) const {
    AppendText(text, row);
    row += ',';
    row += vector_key_;
    AppendJsonElements(vector, row);
    row += ']';
  }

  const JsonlForm& form_;
  std::string text_key_;    // "text":
  std::string vector_key_;  // "vector":[
};

}  // namespace

std::string_view NameOf(EmbeddingFileFormat format) {
  // In the order of the values.
  constexpr std::string_view kNames[] = {
      "npy", "fvecs", "jsonl", "tsv", "safetensors", "pgvector", "sql"};
  return kNames[static_cast<int>(format)];
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

bool RowsAreVectors(EmbeddingFileFormat format) {
  return format == EmbeddingFileFormat::kNpy ||
         format == EmbeddingFileFormat::kSafetensors;
}

void AppendJsonlRows(const JsonlForm& form, const EmbeddedTexts& embedded,
                     ThreadPool* pool, RowParts& rows) {
  const JsonlWriter writer(form);
  FormatRows(embedded.texts.size(), pool, rows,
             [&](std::size_t i, std::string& row) {
               writer.AppendRow(embedded.ids[i], embedded.texts[i],
                                embedded.vector(i), row);
             });
}

void AppendEmbeddingFileRows(EmbeddingFileFormat format,
                             const EmbeddedTexts& embedded,
                             const JsonlForm& form, ThreadPool* pool,
                             RowParts& rows) {
  if (format == EmbeddingFileFormat::kJsonl) {
    return AppendJsonlRows(form, embedded, pool, rows);
  }
  if (format == EmbeddingFileFormat::kPgvector) {
    return AppendPgvectorRows(embedded, pool, rows);
  }
  std::string& part = rows.Add(1).front();
  part.clear();
  if (format == EmbeddingFileFormat::kFvecs) {
    AppendFvecsRows(embedded, part);
  } else if (format == EmbeddingFileFormat::kTsv) {
    part = EmbeddingTable(embedded).ToTsv(Table::kNone);
  } else if (format == EmbeddingFileFormat::kSql) {
    AppendSqlRows(embedded, part);
  } else {
    part = embedded.vectors;
  }
}

}  // namespace semrank
