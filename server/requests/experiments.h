// What a request with an impression tries on its list, and how the impression
// records it. The caller sees a list like any other.
#ifndef SEMRANK_SERVER_REQUESTS_EXPERIMENTS_H_
#define SEMRANK_SERVER_REQUESTS_EXPERIMENTS_H_

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/base/random.h"
#include "model/events/event.h"
#include "server/models/served_model.h"
#include "server/ranking/experiments.h"
#include "server/ranking/ranking_engine.h"
#include "server/requests/message_fields.h"
#include "server/requests/server_parts.h"
#include "server/requests/wire_reader.h"

namespace semrank {

// An Interleaving, read in place.
struct InterleaveView {
  bool is_wanted = false;  // whether the field is set
  ModelRefView a;
  // At most one of these two is set.
  bool has_b = false;
  bool request_order = false;
  ModelRefView b;
};

void ReadFrom(WireReader& reader, InterleaveView& view);

// The models of a request whose list may be interleaved.
struct ListModels {
  ServedModelPtr a;  // of a list with one ranking too
  ServedModelPtr b;  // null = none, or the order of the request
  bool is_interleaved = false;
};

// What decides about them.
struct ListRequest {
  const ModelRefView& model;
  const InterleaveView& interleave;
  bool has_impression = false;
  // Whether --interleave may choose the request.
  bool may_interleave = true;
};

// INVALID_FIELD for an `interleave` without an impression, with a `model`
// beside it, or without a second ranking.
absl::Status CheckInterleave(const ListRequest& request);

// Calls CheckInterleave and finds the models that the request names, or those
// of --interleave for its share of the requests that name none.
absl::StatusOr<ListModels> ChooseModels(const ListRequest& request,
                                        const ServerParts& parts);

// Model B of --interleave for its share of the lists of `served`; null for the
// others.
ServedModelPtr ChooseSecondModel(const ServedModel& served,
                                 const ServerParts& parts);

// How a list differs from the ranking of its model.
struct ListExperiment {
  SwappedPair swapped;
  std::vector<DraftPick> picks;  // parallel to the list, if it is interleaved
  std::string ranker_b;          // "shop/3"; empty = it is not interleaved

  void AddTo(Impression& impression) const;
};

// "shop/3".
std::string RankerName(const ServedModel& served);

// Each thread has its own, with a seed of the operating system.
Random& ThreadRandom();

// The second ranking of an interleaved list: the same candidates, ranked by
// another model, or in the order in which the request has them.
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
  // Adds what this ranking took.
  void AddTimesTo(PhaseTimes& times) const;
  // As Interleave, for rankings of other numbers than those of the candidates;
  // leaves the results and the times to the caller.
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

#endif  // SEMRANK_SERVER_REQUESTS_EXPERIMENTS_H_
