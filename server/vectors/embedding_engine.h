// Embeds the texts of a request, independent of the protocol.
//
//   Promise  a text's vector has the same bits alone, in any batch, in any
//            thread, cached or not, on one machine and build.
//   Work     in the calling thread, at once or in slices (work_slice.h). Before
//            each slice and each batch through the tower it checks that the
//            caller still waits.
//   Threads  all methods are thread-safe. Each thread keeps its memory
//            (text_batch.h).
//   Errors   InvalidArgument for what fails the call; DeadlineExceeded and
//            Cancelled when no client waits.
#ifndef SEMRANK_SERVER_VECTORS_EMBEDDING_ENGINE_H_
#define SEMRANK_SERVER_VECTORS_EMBEDDING_ENGINE_H_

#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/caller.h"
#include "server/base/limits.h"
#include "server/base/metrics.h"
#include "server/base/text_checks.h"
#include "server/base/work_slice.h"
#include "server/models/served_model.h"
#include "server/vectors/text_batch.h"
#include "server/vectors/text_embedder.h"

namespace semrank {

struct EmbedInput {
  Side side = Side::kDocument;
  std::span<const std::string_view> texts = {};
  // true = a bad text is a problem of its own, and there may be no text at all;
  // false = either fails the call.
  bool skip_bad_texts = false;
};

struct EmbedResult {
  // Row-major [texts.size(), embedding_dim]; zeros for texts with a problem.
  std::vector<float> vectors;
  std::vector<ItemProblem> problems;
  CacheUse cache;
  PhaseTimes times;
};

// The state of a request between two slices, initially empty.
struct EmbedState {
  bool begun = false;
  std::size_t next_text = 0;
};

class EmbeddingEngine {
 public:
  // `embedder` and `metrics` must outlive the engine.
  EmbeddingEngine(const Limits& limits, const TextEmbedder* embedder,
                  Metrics* metrics)
      : limits_(limits), embedder_(*embedder), metrics_(metrics) {}

  // Makes the checks that need no work.
  absl::Status Check(const EmbedInput& input) const;

  // Embeds an input that Check accepts. Overwrites `result` and reuses its
  // memory; after an error only its times are valid.
  absl::Status Embed(const ServedModel& served, const EmbedInput& input,
                     const Caller& caller, EmbedResult& result) const;

  // The same in slices: runs one; `result` is complete after kDone. After an
  // error no further slice may be run.
  absl::StatusOr<Progress> RunSlice(const ServedModel& served,
                                    const EmbedInput& input,
                                    const Caller& caller, EmbedState& state,
                                    EmbedResult& result) const;

  const Limits& limits() const { return limits_; }

 private:
  // Selects the texts [first, last) that are not too long: text i of `texts` is
  // items[i] of the request.
  absl::Status SelectTexts(const EmbedInput& input, std::size_t first,
                           std::size_t last,
                           std::vector<std::string_view>& texts,
                           std::vector<std::uint32_t>& items,
                           std::vector<ItemProblem>& problems) const;
  // Both embed the selected texts into scratch.rows. EmbedQueries removes items
  // that are not valid UTF-8.
  absl::Status EmbedDocuments(const EmbedContext& context,
                              const EmbedInput& input,
                              const std::vector<std::uint32_t>& items,
                              SliceScratch& scratch, EmbedResult& result) const;
  absl::Status EmbedQueries(const EmbedContext& context,
                            const EmbedInput& input,
                            std::vector<std::uint32_t>& items,
                            SliceScratch& scratch, EmbedResult& result) const;

  const Limits limits_;
  const TextEmbedder& embedder_;
  Metrics* const metrics_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_VECTORS_EMBEDDING_ENGINE_H_
