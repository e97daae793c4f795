// File formats for vectors, for the programs that import them. Numbers are
// little-endian.
//
//   npy          NumPy 1.0: one float32 matrix of rows x embedding_dim
//   fvecs        as in the TEXMEX collections and FAISS: for each vector
//                embedding_dim as int32, then its elements as float32
//   safetensors  one float32 tensor "vectors" of rows x embedding_dim; model,
//                version and side as metadata
//   jsonl        {"id", "text", "vector"} per text, or as JsonlStyle says
//   tsv          id, text and "0.1 -0.2 ..." per text
//   pgvector     PostgreSQL's COPY text format: id, text and "[0.1,-0.2]",
//                which pgvector reads as a vector, per text
//   sql          for SQLite: a table documents(id, text, vector), whose vectors
//                are blobs of float32, as sqlite-vec reads them
//
// The first three cannot hold ids: a second file has them, one per line, in the
// order of the rows.
#ifndef SEMRANK_CLIENT_BULK_EMBEDDING_FILE_H_
#define SEMRANK_CLIENT_BULK_EMBEDDING_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "client/bulk/row_parts.h"
#include "client/output/embedding_output.h"
#include "model/base/thread_pool.h"

namespace semrank {

enum class EmbeddingFileFormat {
  kNpy,
  kFvecs,
  kJsonl,
  kTsv,
  kSafetensors,
  kPgvector,
  kSql
};

// "npy".
std::string_view NameOf(EmbeddingFileFormat format);

// Whether the ids need a second file.
bool HasIdsFile(EmbeddingFileFormat format);

//   plain          {"id": "7", "text": ..., "vector": [...]}
//   elasticsearch  two lines of the bulk API, also OpenSearch's:
//                  {"index": {"_id": "7"}} and {"text": ..., "vector": [...]}
//   vespa          {"put": "id:NAMESPACE:TYPE::7", "fields": {"text": ...,
//                  "vector": [...]}}, a tensor<float>(x[N]), for `vespa feed`
//   qdrant         {"id": 7, "vector": [...], "payload": {"id": "7", "text":
//                  ...}}, a point. Qdrant's ids are numbers or UUIDs, so other
//                  ids become the UUID (version 8, RFC 9562) of their
//                  fingerprint.
enum class JsonlStyle { kPlain, kElasticsearch, kVespa, kQdrant };

struct JsonlForm {
  JsonlStyle style = JsonlStyle::kPlain;
  std::string text_field = "text";
  std::string vector_field = "vector";  // qdrant: always "vector"
  std::string vespa_type = "doc:doc";   // NAMESPACE:TYPE
};

// What all rows of a file have in common.
struct EmbeddingFileFacts {
  EmbeddingFileFormat format = EmbeddingFileFormat::kNpy;
  std::int64_t embedding_dim = 0;
  std::string model;
  std::int64_t version = 0;
  std::string side;  // "query" or "document"
};

// The bytes before the rows. Their number does not depend on num_rows, so that
// they can be written first and overwritten when num_rows is known.
std::string EmbeddingFileHeader(const EmbeddingFileFacts& facts,
                                std::int64_t num_rows);

// Whether rows are the bytes of the vectors and nothing else.
bool RowsAreVectors(EmbeddingFileFormat format);

// Adds the rows of texts, which all have ids, to `rows`. `pool` shares the
// formatting of numbers as text, which takes several times as long as to
// compute them; null = this thread alone.
void AppendEmbeddingFileRows(EmbeddingFileFormat format,
                             const EmbeddedTexts& embedded,
                             const JsonlForm& form, ThreadPool* pool,
                             RowParts& rows);
void AppendJsonlRows(const JsonlForm& form, const EmbeddedTexts& embedded,
                     ThreadPool* pool, RowParts& rows);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_BULK_EMBEDDING_FILE_H_
