// The forms of a file of vectors, for the programs that read vectors in bulk.
//
//   npy          NumPy 1.0 format: one float32 matrix of rows x embedding_dim
//   fvecs        as of the TEXMEX collections, read by FAISS: for each vector
//                embedding_dim in int32, then its numbers in float32
//   safetensors  one float32 tensor "vectors" of rows x embedding_dim; model,
//                version and side as metadata
//   jsonl        {"id", "text", "vector"}, a line a text, or as jsonl_form.h
//   tsv          id, text and "0.1 -0.2 ...", a line a text
//
// Numbers are little-endian. The first three have no room for ids: those stand
// in a file beside, one a line, in the order of the rows.
#ifndef SEMRANK_CLIENT_BULK_EMBEDDING_FILE_H_
#define SEMRANK_CLIENT_BULK_EMBEDDING_FILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "client/bulk/jsonl_form.h"
#include "client/input/text_list.h"
#include "semrank/v1/embedding_service.pb.h"

namespace semrank {

enum class EmbeddingFileFormat { kNpy, kFvecs, kJsonl, kTsv, kSafetensors };

inline constexpr std::string_view kEmbeddingFileFormats =
    "npy, fvecs, jsonl, tsv or safetensors";

// By its name, "npy"; nothing for others.
std::optional<EmbeddingFileFormat> FindEmbeddingFileFormat(
    std::string_view name);
std::string_view NameOf(EmbeddingFileFormat format);

// Whether the ids stand in a file beside.
bool HasIdsBeside(EmbeddingFileFormat format);

// What all rows of a file have in common.
struct EmbeddingFileFacts {
  EmbeddingFileFormat format = EmbeddingFileFormat::kNpy;
  std::int64_t embedding_dim = 0;
  std::string model;
  std::int64_t version = 0;
  std::string side;  // "query" or "document"
};

// What stands before the rows; as long for any number of rows, so that it can
// be written first and corrected in the end.
std::string EmbeddingFileHeader(const EmbeddingFileFacts& facts,
                                std::int64_t num_rows);

// The rows of `texts`, all with ids. `response` holds their vectors, as in
// embedding_output.h.
// `form` is for jsonl.
std::string EmbeddingFileRows(EmbeddingFileFormat format, const TextList& texts,
                              const v1::EmbedTextsResponse& response,
                              const JsonlForm& form = {});

}  // namespace semrank

#endif  // SEMRANK_CLIENT_BULK_EMBEDDING_FILE_H_
