// Texts to vectors, through the cache where it helps: normalise, fingerprint,
// find, embed what is missing in slices, keep it.
//
//   Promise  a row is the same bits whether it was cached or not.
//   Threads  the embedder, from any thread; a TextBatch and a scratch belong
//            to one thread.
#ifndef SEMRANK_SERVER_CORE_TEXT_EMBEDDER_H_
#define SEMRANK_SERVER_CORE_TEXT_EMBEDDER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "model/base/fingerprint.h"
#include "server/core/caller.h"
#include "server/core/document_vector_cache.h"
#include "server/core/metrics.h"
#include "server/core/model_store.h"
#include "server/core/stage_times.h"

namespace semrank {

// Normalised texts, one after another in one piece of memory.
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
  std::size_t memory_bytes() const { return texts_.capacity(); }

 private:
  std::string texts_;
  std::string normalized_;
  std::vector<std::size_t> begins_ = {0};
};

// Texts whose vector was at hand, and texts that went through the tower.
struct CacheUse {
  std::uint32_t hits = 0;
  std::uint32_t misses = 0;
};

class TextEmbedder {
 public:
  // Memory that is reused from request to request.
  struct Scratch {
    EmbedScratch embed;
    std::vector<VectorKey> keys;
    std::vector<std::uint8_t> found;
    std::vector<int> missing;
    std::vector<std::string_view> slice_texts;
    std::vector<VectorKey> slice_keys;
    std::vector<float> slice_rows;
  };

  // `cache` and `metrics` must outlive the embedder.
  TextEmbedder(DocumentVectorCache* cache, Metrics* metrics);

  // Rows [texts.size(), embedding_dim] of one side, straight from the tower.
  absl::Status Embed(const ServedModel& served, Side side,
                     const TextBatch& texts, const Caller& caller,
                     Scratch& scratch, float* rows, StageTimes& times) const;

  // Rows of documents, through the cache. Adds to `use`.
  absl::Status FindOrEmbedDocuments(const ServedModel& served,
                                    const TextBatch& texts,
                                    const Caller& caller, Scratch& scratch,
                                    float* rows, CacheUse& use,
                                    StageTimes& times) const;

 private:
  // One slice: texts[missing[first..last)) through the tower and into the
  // cache.
  void EmbedMissing(const ServedModel& served, const TextBatch& texts,
                    std::size_t first, std::size_t last, Scratch& scratch,
                    float* rows, StageTimes& times) const;

  DocumentVectorCache* const cache_;
  Metrics* const metrics_;
  // The secret is of this process: nobody can make two titles that collide.
  const Fingerprinter fingerprint_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_CORE_TEXT_EMBEDDER_H_
