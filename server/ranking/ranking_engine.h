// Ranks candidates for a query, independent of the protocol: gRPC services and
// HTTP handlers both call it.
//
//   Promise  a pair's score has the same bits alone, in any batch, in any
//            thread, cached or not, on one machine and build.
//   Work     in the calling thread, in slices of a few hundred texts
//            (work_slice.h); each slice checks that the caller still waits.
//   Threads  all methods are thread-safe. Each thread keeps its memory
//            (text_batch.h).
//   Errors   InvalidArgument for what fails the call; DeadlineExceeded and
//            Cancelled when no client waits. Problems of single candidates are
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
  // All pointers must outlive the engine. With a null `catalog` no document is
  // known by id.
  RankingEngine(const Limits& limits, const TextEmbedder* embedder,
                Metrics* metrics, const DocumentCatalog* catalog = nullptr)
      : limits_(limits),
        embedder_(*embedder),
        metrics_(metrics),
        catalog_(catalog) {}

  // Makes the checks that need no work: sizes and fields of the whole call.
  absl::Status Check(const ServedModel& served, const RankInput& input) const;

  // Runs one slice of an input that Check accepts. Overwrites `result` and
  // reuses its memory; it is complete after kDone. After an error only its
  // times are valid, and no further slice may be run.
  absl::StatusOr<Progress> RunSlice(const ServedModel& served,
                                    const RankInput& input,
                                    const Caller& caller, RankState& state,
                                    RankResult& result) const;

  const Limits& limits() const { return limits_; }
  const TextEmbedder& embedder() const { return embedder_; }

 private:
  const Limits limits_;
  const TextEmbedder& embedder_;
  Metrics* const metrics_;
  const DocumentCatalog* const catalog_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_RANKING_RANKING_ENGINE_H_
