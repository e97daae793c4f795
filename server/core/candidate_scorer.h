// One turn's scoring of a request's candidates, one kind after the other: texts
// through the cache and the tower, vectors as the caller gives them. A further
// kind is one more method here.
//
//   Promise  a pair's score is the same bits alone, in any batch, in any
//            thread, cached or not, on one machine and build.
//   Errors   InvalidArgument for what fails the call, DeadlineExceeded and
//            Cancelled when nobody waits; a candidate that cannot be scored is
//            one of the result's problems.
#ifndef SEMRANK_SERVER_CORE_CANDIDATE_SCORER_H_
#define SEMRANK_SERVER_CORE_CANDIDATE_SCORER_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "server/core/caller.h"
#include "server/core/rank_request.h"
#include "server/core/text_embedder.h"
#include "server/core/thread_scratch.h"

namespace semrank {

class CandidateScorer {
 public:
  // What is scored goes to the end of `scored`; problems, cache use and times
  // are added to `result`. All outlive the scorer.
  CandidateScorer(const Limits& limits, const TextEmbedder& embedder,
                  const ServedModel& served, const Caller& caller,
                  ScoredCandidates& scored, RankResult& result);

  // Empties `scored` and puts the query in; before everything else.
  absl::Status BeginWith(std::string_view query);

  // titles[0] is candidate number `first`; they are the request's first
  // candidates, so that the number is also the place in its list.
  absl::Status ScoreTitles(std::span<const std::string_view> titles,
                           std::uint32_t first);

  // Rows of embedding_dim float32, a whole number of them; the first is
  // candidate number `first`.
  void ScoreVectors(std::string_view vectors, std::uint32_t first);

 private:
  // Normalises titles into the scratch's texts; those without a problem become
  // candidates.
  absl::Status AddTitles(std::span<const std::string_view> titles,
                         std::uint32_t first);

  const Limits& limits_;
  const TextEmbedder& embedder_;
  const ServedModel& served_;
  const Caller& caller_;
  TurnScratch& scratch_;
  ScoredCandidates& scored_;
  RankResult& result_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_CORE_CANDIDATE_SCORER_H_
