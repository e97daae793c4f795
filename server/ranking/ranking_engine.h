// Ranks candidates for a query, without knowing a wire: the gRPC services and
// the HTTP handlers both end here.
//
//   Promise  a pair's score is the same bits alone, in any batch, in any
//            thread, cached or not, on one machine and build.
//   Work     in the calling thread, to the end or slice by slice
//            (work_slice.h).
//            Every slice of a few hundred texts it asks whether the caller
//            still waits.
//   Threads  every method, from any thread. Each keeps its memory
//            (text_batch.h).
//   Errors   InvalidArgument for what fails the call, DeadlineExceeded and
//            Cancelled when no client waits; problems of single candidates are
//            part of the result.
#ifndef SEMRANK_SERVER_RANKING_RANKING_ENGINE_H_
#define SEMRANK_SERVER_RANKING_RANKING_ENGINE_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/caller.h"
#include "server/base/limits.h"
#include "server/base/metrics.h"
#include "server/base/work_slice.h"
#include "server/ranking/rank_request.h"
#include "server/vectors/text_embedder.h"

namespace semrank {

class RankingEngine {
 public:
  // `embedder`, `metrics` and `catalog` must outlive the engine. Without a
  // catalog no document is known by id.
  RankingEngine(const Limits& limits, const TextEmbedder* embedder,
                Metrics* metrics, const DocumentCatalog* catalog = nullptr)
      : limits_(limits),
        embedder_(*embedder),
        metrics_(metrics),
        catalog_(catalog) {}

  absl::Status Check(const ServedModel& served, const RankInput& input) const {
    return CheckRankInput(served, input, limits_);
  }

  // One slice of an input that Check accepts; `result` is overwritten, reusing
  // its memory, and complete after kDone. After an error, with which only its
  // times mean something, there is no further slice.
  absl::StatusOr<Progress> RunSlice(const ServedModel& served,
                                    const RankInput& input,
                                    const Caller& caller, RankState& state,
                                    RankResult& result) const;

  const Limits& limits() const { return limits_; }
  const TextEmbedder& embedder() const { return embedder_; }

 private:
  absl::StatusOr<Progress> Stages(const ServedModel& served,
                                  const RankInput& input, const Caller& caller,
                                  RankState& state, RankResult& result) const;

  const Limits limits_;
  const TextEmbedder& embedder_;
  Metrics* const metrics_;
  const DocumentCatalog* const catalog_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_RANKING_RANKING_ENGINE_H_
