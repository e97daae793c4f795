// Normalised texts in one piece of memory, ready for a tower, and what is
// computed from them.
#ifndef SEMRANK_SERVER_VECTORS_TEXT_BATCH_H_
#define SEMRANK_SERVER_VECTORS_TEXT_BATCH_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "model/nn/lexical_part.h"
#include "model/nn/lexical_query.h"

namespace semrank {

class TextBatch {
 public:
  // Empties the batch and keeps its memory.
  void Clear();
  // Normalises and appends a text. Returns InvalidArgument, with the offset,
  // when `text` is not UTF-8, and leaves the batch as it was.
  absl::Status Add(std::string_view text, int normalizer_version);
  void AddNormalized(std::string_view text);

  int size() const { return static_cast<int>(begins_.size()) - 1; }
  std::string_view operator[](int i) const {
    return std::string_view(texts_).substr(begins_[i],
                                           begins_[i + 1] - begins_[i]);
  }

 private:
  std::string texts_;
  std::string normalized_;
  std::vector<std::size_t> begins_ = {0};
};

// Where to output what is computed for each text of a batch: its vector, or
// what a query scores with it. The latter is computed where vector and entries
// lie: copying them would cost as much again, and the copies of a thousand
// titles do not fit into the L2 cache.
struct VectorRows {
  float* dense = nullptr;  // row-major [number of texts, dim]; null = none
  // The dot products of the texts' vectors with that of a query; null = none.
  const float* query_row = nullptr;
  float* scores = nullptr;  // [number of texts]
  // The cosines of the texts' lexical parts with that of a query; null = none.
  const LexicalQuery* query = nullptr;
  float* lexical = nullptr;  // [number of texts]
};

// Texts and their vectors during one slice of work (work_slice.h). The next
// slice on the same thread, of whichever request, overwrites them.
struct SliceScratch {
  std::vector<std::string_view> texts;  // as the client sent them
  TextBatch normalized;                 // the same texts, where needed
  std::vector<float> rows;              // [texts.size(), embedding_dim]
  std::vector<float> lexical;           // [texts.size()], if needed
};

// The scratch of the calling thread. All requests reuse it, so that most of
// them allocate next to nothing. It keeps at most about 16 MiB between
// requests.
SliceScratch& ThreadSliceScratch();

}  // namespace semrank

#endif  // SEMRANK_SERVER_VECTORS_TEXT_BATCH_H_
