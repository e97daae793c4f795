// A whole Rank or Embed, as a request runs them: checked, then slice by slice.
#ifndef SEMRANK_TESTS_SUPPORT_RUN_ENGINES_H_
#define SEMRANK_TESTS_SUPPORT_RUN_ENGINES_H_

#include "model/base/status_macros.h"
#include "server/ranking/ranking_engine.h"
#include "server/vectors/embedding_engine.h"

namespace semrank {

inline absl::Status RankAll(const RankingEngine& engine,
                            const ServedModel& served, const RankInput& input,
                            const Caller& caller, RankResult& result) {
  SEMRANK_RETURN_IF_ERROR(engine.Check(served, input));
  RankState state;
  while (true) {
    SEMRANK_ASSIGN_OR_RETURN(
        const Progress progress,
        engine.RunSlice(served, input, caller, state, result));
    if (progress == Progress::kDone) return absl::OkStatus();
  }
}

inline absl::Status EmbedAll(const EmbeddingEngine& engine,
                             const ServedModel& served, const EmbedInput& input,
                             const Caller& caller, EmbedResult& result) {
  SEMRANK_RETURN_IF_ERROR(engine.Check(input));
  return engine.Embed(served, input, caller, result);
}

}  // namespace semrank

#endif  // SEMRANK_TESTS_SUPPORT_RUN_ENGINES_H_
