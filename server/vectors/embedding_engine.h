// Embeds the texts of a request, without knowing a wire.
//
//   Promise  a text's vector is the same bits alone, in any batch, in any
//            thread, cached or not, on one machine and build.
//   Work     in the calling thread, to the end or slice by slice
//            (work_slice.h). Before each slice and each batch through the
//            tower it asks whether the caller still waits.
//   Threads  every method, from any thread. Each keeps its memory
//            (text_batch.h).
//   Errors   InvalidArgument for what fails the call, DeadlineExceeded and
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
  // A bad text is a problem of its own, and there may be no text at all; else
  // it fails the call.
  bool skip_bad_texts = false;
};

struct EmbedResult {
  // Row-major [texts.size(), embedding_dim]; zeros for texts with a problem.
  std::vector<float> vectors;
  std::vector<ItemProblem> problems;
  CacheUse cache;
  StageTimes times;
};

// How far a request has come between two slices; begins empty.
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

  // What can be refused before any work.
  absl::Status Check(const EmbedInput& input) const;

  // An input that Check accepts, to the end. `result` is overwritten, reusing
  // its memory; with an error only its times mean something.
  absl::Status Embed(const ServedModel& served, const EmbedInput& input,
                     const Caller& caller, EmbedResult& result) const;

  // One slice of the same; `result` is complete after kDone. After an error
  // there is no further slice.
  absl::StatusOr<Progress> RunSlice(const ServedModel& served,
                                    const EmbedInput& input,
                                    const Caller& caller, EmbedState& state,
                                    EmbedResult& result) const;

  const Limits& limits() const { return limits_; }

 private:
  absl::StatusOr<Progress> Stages(const ServedModel& served,
                                  const EmbedInput& input, const Caller& caller,
                                  EmbedState& state, EmbedResult& result) const;
  // Those of texts [first, last) that are not too long: text i of `texts` is
  // items[i] of the request.
  absl::Status SelectTexts(const EmbedInput& input, std::size_t first,
                           std::size_t last,
                           std::vector<std::string_view>& texts,
                           std::vector<std::uint32_t>& items,
                           std::vector<ItemProblem>& problems) const;
  // Rows of the selected texts into the scratch.
  absl::Status EmbedDocuments(const EmbedContext& context,
                              const EmbedInput& input,
                              const std::vector<std::uint32_t>& items,
                              SliceScratch& scratch, EmbedResult& result) const;
  // Likewise; leaves `items` that are not UTF-8 out.
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
