// Embeds texts, through the cache and the document store where they help:
// fingerprint, find, normalise and embed what is missing batch by batch, keep
// it.
//
//   Keys     the cache knows a text by its bytes as the client sent them, so
//            that a cached text is not normalised again, which takes three
//            fifths of the time of a Rank of 1,000 cached titles. Two spellings
//            of one normalised text take two entries. Document stores know a
//            text by its normalised form.
//   Promise  a row has the same bits whether it was cached or not.
//   Threads  all methods are thread-safe. Each thread keeps its memory, so that
//            most requests allocate nothing.
#ifndef SEMRANK_SERVER_VECTORS_TEXT_EMBEDDER_H_
#define SEMRANK_SERVER_VECTORS_TEXT_EMBEDDER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "model/base/fingerprint.h"
#include "server/base/caller.h"
#include "server/base/metrics.h"
#include "server/models/served_model.h"
#include "server/vectors/document_vector_cache.h"
#include "server/vectors/stored_vectors.h"
#include "server/vectors/text_batch.h"

namespace semrank {

// The model and the caller of a request, and where its stages are timed.
struct EmbedContext {
  const ServedModel& served;
  const Caller& caller;
  PhaseTimes& times;
};

// How many texts were found, and how many went through the tower.
struct CacheUse {
  std::uint32_t hits = 0;
  std::uint32_t misses = 0;
  std::uint32_t store_hits = 0;  // the part of `hits` from the document store
  // The indices of the misses among the texts of their call, ascending.
  std::vector<std::uint32_t> embedded;
};

// A query as documents are scored against it.
struct QueryVector {
  std::vector<float> row;             // [embedding_dim]
  std::vector<LexicalEntry> entries;  // if the model has a lexical part
  std::string text;  // normalised, if the model scores words (SSI)
};

class TextEmbedder {
 public:
  // All pointers must outlive the embedder; `stored` is null without a document
  // store.
  TextEmbedder(DocumentVectorCache* cache, Metrics* metrics,
               StoredVectors* stored = nullptr);

  // Computes the row-major vectors [texts.size(), embedding_dim] by the tower.
  // Before each batch it checks the caller, and returns DeadlineExceeded or
  // Cancelled when it no longer waits.
  absl::Status Embed(const EmbedContext& context, Side side,
                     const TextBatch& texts, float* rows) const;

  // Embeds one query as the client sent it; uses the cache, since search
  // queries repeat, and a query's tower costs as much as scoring a hundred
  // titles. Errors: InvalidArgument for text that is not UTF-8, and those of
  // Embed.
  absl::Status FindOrEmbedQuery(const EmbedContext& context,
                                std::string_view text,
                                QueryVector& query) const;

  // Is called with the index of a text that is not UTF-8, and the reason. An
  // error ends the call; after OK the text gets a row of zeros.
  using OnInvalidText =
      absl::FunctionRef<absl::Status(std::size_t, const absl::Status&)>;

  // Outputs documents as the client sent them, through cache and store. The
  // store keeps dense vectors only, so the lexical entries of what it has are
  // computed again. Adds to `use`. Errors: those of Embed and of `on_invalid`.
  absl::Status FindOrEmbedDocuments(const EmbedContext& context,
                                    std::span<const std::string_view> texts,
                                    OnInvalidText on_invalid,
                                    const VectorRows& rows,
                                    CacheUse& use) const;

 private:
  struct Scratch;
  static Scratch& ThreadScratch();

  // Normalises the texts that were not found.
  static absl::Status NormalizeMissing(std::span<const std::string_view> texts,
                                       const TwoTowerModel& model,
                                       OnInvalidText on_invalid,
                                       Scratch& scratch,
                                       const VectorRows& rows);
  // Outputs the missing texts that the store has, and inserts them into the
  // cache. Returns their number; the others stay missing.
  std::uint32_t FindStored(const EmbedContext& context, Scratch& scratch,
                           const VectorRows& rows) const;
  absl::Status EmbedMissing(const EmbedContext& context, Scratch& scratch,
                            const VectorRows& rows) const;
  // Embeds the texts gathered in `scratch`, inserts their vectors into the
  // cache, and queues them for the store.
  void EmbedGathered(const EmbedContext& context, Scratch& scratch) const;

  DocumentVectorCache* const cache_;
  Metrics* const metrics_;
  StoredVectors* const stored_;
  // The secret is drawn at start, so no client can construct two titles that
  // collide in the cache.
  const Fingerprinter fingerprint_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_VECTORS_TEXT_EMBEDDER_H_
