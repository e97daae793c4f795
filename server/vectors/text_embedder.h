// Texts to vectors, through the cache and the document store where they help:
// normalise, fingerprint, find, embed what is missing in slices, keep it.
//
//   Promise  a row is the same bits whether it was cached or not.
//   Threads  the embedder, from any thread; a TextBatch and a scratch belong
//            to one thread.
#ifndef SEMRANK_SERVER_VECTORS_TEXT_EMBEDDER_H_
#define SEMRANK_SERVER_VECTORS_TEXT_EMBEDDER_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "model/base/fingerprint.h"
#include "server/base/caller.h"
#include "server/base/metrics.h"
#include "server/base/stage_times.h"
#include "server/models/model_store.h"
#include "server/vectors/document_vector_cache.h"
#include "server/vectors/stored_vectors.h"
#include "server/vectors/text_batch.h"

namespace semrank {

// Texts whose vector was at hand, and texts that went through the tower.
struct CacheUse {
  std::uint32_t hits = 0;
  std::uint32_t misses = 0;
  std::uint32_t store_hits = 0;  // of `hits`, those from the document store
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
    std::vector<std::uint8_t> slice_found;
  };

  // All must outlive the embedder; without `stored` there is no document store.
  TextEmbedder(DocumentVectorCache* cache, Metrics* metrics,
               StoredVectors* stored = nullptr);

  // Rows [texts.size(), embedding_dim] of one side, straight from the tower.
  absl::Status Embed(const ServedModel& served, Side side,
                     const TextBatch& texts, const Caller& caller,
                     Scratch& scratch, float* rows, StageTimes& times) const;

  // Rows of documents, through cache and store. Adds to `use`.
  absl::Status FindOrEmbedDocuments(const ServedModel& served,
                                    const TextBatch& texts,
                                    const Caller& caller, Scratch& scratch,
                                    float* rows, CacheUse& use,
                                    StageTimes& times) const;

 private:
  // texts[missing[first..last)) and their keys become the slice.
  static void GatherSlice(const ServedModel& served, const TextBatch& texts,
                          std::size_t first, std::size_t last,
                          Scratch& scratch);
  // What the store has of the missing ones, into `rows` and the cache. Returns
  // how many those are; the others stay missing.
  std::uint32_t FindStored(const ServedModel& served, const TextBatch& texts,
                           const Caller& caller, Scratch& scratch,
                           float* rows) const;
  // One slice: texts[missing[first..last)) through the tower, into the cache
  // and on their way to the store.
  void EmbedMissing(const ServedModel& served, const TextBatch& texts,
                    std::size_t first, std::size_t last, Scratch& scratch,
                    float* rows, StageTimes& times) const;

  DocumentVectorCache* const cache_;
  Metrics* const metrics_;
  StoredVectors* const stored_;
  // Nobody who does not know the secret can make two titles that collide.
  const Fingerprinter fingerprint_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_VECTORS_TEXT_EMBEDDER_H_
