// The second ranking of an interleaved list: the same candidates, ranked by
// another model, or in the order in which the request has them.
#ifndef SEMRANK_SERVER_REQUESTS_SECOND_RANKING_H_
#define SEMRANK_SERVER_REQUESTS_SECOND_RANKING_H_

#include <cstdint>
#include <span>
#include <utility>

#include "absl/status/statusor.h"
#include "server/ranking/ranking_engine.h"
#include "server/requests/experiments.h"

namespace semrank {

class SecondRanking {
 public:
  // `served` null = the order of the request. The list gets `max_results`
  // results; 0 = all.
  SecondRanking(ServedModelPtr served, std::uint32_t max_results)
      : served_(std::move(served)), max_results_(max_results) {}

  // Runs one slice of the ranking; kDone at once for the order of the request.
  absl::StatusOr<Progress> RunSlice(const RankingEngine& engine,
                                    const RankInput& input,
                                    const Caller& caller);
  const RankResult& result() const { return result_; }

  // Replaces the results of `first` by those of both rankings, interleaved, and
  // adds the times. Problems and what else `first` has stay.
  ListExperiment Interleave(RankResult& first);
  // The same for rankings of other numbers than those of the candidates.
  ListExperiment Draft(std::span<const std::uint32_t> first,
                       std::span<const std::uint32_t> second) const;

 private:
  // Removes what is a problem of the first ranking.
  void DropProblems(const RankResult& first);
  void UseRequestOrder(const RankResult& first);

  const ServedModelPtr served_;
  const std::uint32_t max_results_;
  RankState progress_;
  RankResult result_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_SECOND_RANKING_H_
