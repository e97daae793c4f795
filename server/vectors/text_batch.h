// Normalised texts, one after another in one piece of memory, ready for a
// tower, and the vectors that become of them.
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
  // Normalises and appends. InvalidArgument, naming the offset, when `text` is
  // not UTF-8; the batch is then as before.
  absl::Status Add(std::string_view text);
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

// What is wanted of each text of a batch: its vector, or what a query scores
// with it, computed where vector and entries lie. Copies would cost as much
// again, and those of a thousand titles do not fit into the L2 cache.
struct VectorRows {
  float* dense = nullptr;  // row-major [number of texts, dim]; null = none
  // With a query's vector, its dot product with each text's.
  const float* query_row = nullptr;
  float* scores = nullptr;  // [number of texts]
  // With a query's lexical part, its cosine with each text's.
  const LexicalQuery* query = nullptr;
  float* lexical = nullptr;  // [number of texts]
};

// Texts and their vectors during one slice of work (work_slice.h). The next
// slice on the same thread, of any request, overwrites them.
struct SliceScratch {
  std::vector<std::string_view> texts;  // as they came
  TextBatch normalized;                 // the same, where they are needed
  std::vector<float> rows;              // [texts.size(), embedding_dim]
  std::vector<float> lexical;           // [texts.size()], if it is wanted
};

// The calling thread's scratch, reused by every request so that most of them
// allocate next to nothing. Between requests it is at most about 16 MiB.
SliceScratch& ThreadSliceScratch();

}  // namespace semrank

#endif  // SEMRANK_SERVER_VECTORS_TEXT_BATCH_H_
