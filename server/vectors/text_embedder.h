// Texts to vectors, through the cache and the document store where they help:
// fingerprint, find, normalise and embed what is missing batch by batch, keep
// it.
//
//   Keys     the cache knows a text by its bytes as given, so that a cached
//            text is not normalised again (three fifths of the time of a Rank
//            of 1,000 cached titles). Two spellings of one normalised text
//            take two entries. Document stores know a text by its normalised
//            form.
//   Promise  a row is the same bits whether it was cached or not.
//   Threads  every method, from any thread. Each thread keeps its memory, so
//            that most requests allocate nothing.
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

// On whose behalf texts are embedded: with which model, for which caller, and
// where the time spent is recorded.
struct EmbedContext {
  const ServedModel& served;
  const Caller& caller;
  StageTimes& times;
};

// Texts whose vector was found, and texts that went through the tower.
struct CacheUse {
  std::uint32_t hits = 0;
  std::uint32_t misses = 0;
  std::uint32_t store_hits = 0;  // of `hits`, those from the document store
  // The places of the misses among the texts of their call, ascending.
  std::vector<std::uint32_t> embedded;
};

// A query's parts.
struct QueryVector {
  std::vector<float> row;             // [embedding_dim]
  std::vector<LexicalEntry> entries;  // if the model has a lexical part
  // Normalised, if the model scores words (SSI).
  std::string text;
};

class TextEmbedder {
 public:
  // All must outlive the embedder; without `stored` there is no document store.
  TextEmbedder(DocumentVectorCache* cache, Metrics* metrics,
               StoredVectors* stored = nullptr);

  // Row-major [texts.size(), embedding_dim] of one side, straight from the
  // tower. DeadlineExceeded or Cancelled once the caller no longer waits, which
  // is checked before each batch.
  absl::Status Embed(const EmbedContext& context, Side side,
                     const TextBatch& texts, float* rows) const;

  // Those of one query, given as it came, through the cache: search queries
  // repeat, and a query's tower costs as much as scoring a hundred titles.
  // InvalidArgument for text that is not UTF-8; errors as Embed.
  absl::Status FindOrEmbedQuery(const EmbedContext& context,
                                std::string_view text,
                                QueryVector& query) const;

  // Called with the number of a text that is not UTF-8, and why. An error ends
  // the call; OK leaves the text out, with a row of zeros.
  using OnInvalidText =
      absl::FunctionRef<absl::Status(std::size_t, const absl::Status&)>;

  // Outputs documents, given as they came, through cache and store. The store
  // keeps dense vectors alone: the lexical entries of what it finds are made
  // anew. Adds to `use`. Errors as Embed, and those of `on_invalid`.
  absl::Status FindOrEmbedDocuments(const EmbedContext& context,
                                    std::span<const std::string_view> texts,
                                    OnInvalidText on_invalid,
                                    const VectorRows& rows,
                                    CacheUse& use) const;

 private:
  struct Scratch;
  static Scratch& ThreadScratch();

  // Makes the list of texts that were not found, normalised.
  static absl::Status NormalizeMissing(std::span<const std::string_view> texts,
                                       int dim, OnInvalidText on_invalid,
                                       Scratch& scratch,
                                       const VectorRows& rows);
  // Copies what the store has of the missing texts into `rows` and the cache.
  // Returns how many those are; the others stay missing.
  std::uint32_t FindStored(const EmbedContext& context, Scratch& scratch,
                           const VectorRows& rows) const;
  absl::Status EmbedMissing(const EmbedContext& context, Scratch& scratch,
                            const VectorRows& rows) const;
  // Embeds the texts that are gathered in `scratch`, and keeps their vectors in
  // the cache and, later, in the store.
  void EmbedGathered(const EmbedContext& context, Scratch& scratch) const;

  DocumentVectorCache* const cache_;
  Metrics* const metrics_;
  StoredVectors* const stored_;
  // Its secret is drawn at start, so no client can construct two titles that
  // collide in the cache.
  const Fingerprinter fingerprint_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_VECTORS_TEXT_EMBEDDER_H_
