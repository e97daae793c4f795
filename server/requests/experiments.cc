#include "server/requests/experiments.h"

#include <algorithm>
#include <random>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "model/base/status_macros.h"
#include "semrank/v1/common.pb.h"
#include "server/base/errors.h"

namespace semrank {
namespace {

// ListExperiment::ranker_b of the order in which a request has its candidates.
constexpr std::string_view kRequestOrder = "request";

// A draft works on the numbers of candidates, which mean the same in both
// rankings. A pick is a place in one of them, and each array that is parallel
// to a ranking (results, name matches, part scores) is then gathered by the
// picks, so that they stay parallel.

std::vector<std::uint32_t> Candidates(const RankResult& result) {
  std::vector<std::uint32_t> candidates;
  candidates.reserve(result.ranking.size());
  for (const RankedDocument& document : result.ranking) {
    candidates.push_back(document.index);
  }
  return candidates;
}

// Replaces the results of `a` by those of the picks.
void ApplyToResult(std::span<const DraftPick> picks, const RankResult& b,
                   RankResult& a) {
  ApplyDraft(picks, b.ranking, a.ranking);
  ApplyDraft(picks, b.names, a.names);
  ApplyDraft(picks, b.parts.semantic, a.parts.semantic);
  ApplyDraft(picks, b.parts.lexical, a.parts.lexical);
}

}  // namespace

void ReadFrom(WireReader& reader, InterleaveView& view) {
  // Presence matters twice: an empty `interleave` asks for a list of two
  // rankings, and an empty `b` for the default model.
  using v1::Interleaving;
  const auto read_b = [&] {
    ReadFrom(reader, view.b);
    view.has_b = true;
  };
  view.is_wanted |= reader.ReadMessage([&] {
    reader.ReadField(
        WireField(Interleaving::kAFieldNumber, view.a),
        WireField(Interleaving::kBFieldNumber, read_b),
        WireField(Interleaving::kRequestOrderFieldNumber, view.request_order));
  });
}

absl::Status CheckInterleave(const ListRequest& request) {
  const InterleaveView& interleave = request.interleave;
  if (!request.has_impression) {
    return FieldError("INVALID_FIELD", "interleave",
                      "is only allowed with \"impression\", which records the "
                      "ranking of each result");
  }
  // `model` could contradict `a`, so only one of them may be set.
  if (!request.model.name.empty() || request.model.version != 0) {
    return FieldError("INVALID_FIELD", "model",
                      "cannot be set together with interleave; set "
                      "interleave.a");
  }
  if (interleave.has_b == interleave.request_order) {
    return FieldError("INVALID_FIELD", "interleave",
                      "needs one of b and request_order");
  }
  return absl::OkStatus();
}

absl::StatusOr<ListModels> ChooseModels(const ListRequest& request,
                                        const ServerParts& parts) {
  // A caller that names two models gets both or an error. The server may also
  // choose the second one by --interleave; a list for which that is not
  // possible is answered by the first model alone.
  ListModels models;
  if (!request.interleave.is_wanted) {
    SEMRANK_ASSIGN_OR_RETURN(models.a, FindModel(request.model, *parts.models));
    if (request.has_impression && request.may_interleave) {
      models.b = ChooseSecondModel(*models.a, parts);
    }
    models.is_interleaved = models.b != nullptr;
    return models;
  }
  SEMRANK_RETURN_IF_ERROR(CheckInterleave(request));
  SEMRANK_ASSIGN_OR_RETURN(models.a,
                           FindModel(request.interleave.a, *parts.models));
  if (!request.interleave.request_order) {
    SEMRANK_ASSIGN_OR_RETURN(models.b,
                             FindModel(request.interleave.b, *parts.models));
  }
  models.is_interleaved = true;
  return models;
}

ServedModelPtr ChooseSecondModel(const ServedModel& served,
                                 const ServerParts& parts) {
  // Both names are those of served models: FinishExperiments has resolved
  // aliases. Every version of model A takes part, also one that the request
  // pinned.
  const Experiments& experiments = parts.experiments;
  if (experiments.interleave_share == 0 ||
      served.model->version().name != experiments.interleave_a ||
      ThreadRandom().Between(0, 1) >= experiments.interleave_share) {
    return nullptr;
  }
  // Model B may have no version yet, and then A answers alone.
  return parts.models->Find(experiments.interleave_b, 0).value_or(nullptr);
}

void ListExperiment::AddTo(Impression& impression) const {
  // Only the impression has these fields. A response with them would let a
  // client treat the results of one team in another way.
  impression.swapped_first = swapped.first;
  impression.swapped_second = swapped.second;
  if (ranker_b.empty()) return;
  // The ranker of the whole list is that of `a`, which BeginImpression has set.
  impression.ranker_a = impression.ranker;
  impression.ranker_b = ranker_b;
  // An impression may keep less than the whole list.
  const std::size_t size = std::min(picks.size(), impression.results.size());
  for (std::size_t i = 0; i < size; ++i) {
    // Results after the end of either ranking belong to no team, so clicks on
    // them count for neither.
    if (!picks[i].in_team) continue;
    impression.results[i].team = picks[i].is_b ? 'b' : 'a';
  }
}

std::string RankerName(const ServedModel& served) {
  const ModelVersion& version = served.model->version();
  return absl::StrCat(version.name, "/", version.version);
}

Random& ThreadRandom() {
  thread_local Random random{std::random_device()(), RandomPurpose::kServing};
  return random;
}

absl::StatusOr<Progress> SecondRanking::RunSlice(const RankingEngine& engine,
                                                 const RankInput& input,
                                                 const Caller& caller) {
  if (served_ == nullptr) return Progress::kDone;
  return engine.RunSlice(*served_, input, caller, progress_, result_);
}

ListExperiment SecondRanking::Interleave(RankResult& first) {
  if (served_ == nullptr) {
    UseRequestOrder(first);
  } else {
    DropProblems(first);
  }
  ListExperiment experiment = Draft(Candidates(first), Candidates(result_));
  ApplyToResult(experiment.picks, result_, first);
  AddTimesTo(first.times);
  return experiment;
}

// The request as a whole has one time in the queue, which the run adds.
void SecondRanking::AddTimesTo(PhaseTimes& times) const {
  for (const Phase phase :
       {Phase::kParse, Phase::kCache, Phase::kEmbed, Phase::kScore}) {
    times[phase] += result_.times[phase];
  }
}

ListExperiment SecondRanking::Draft(
    std::span<const std::uint32_t> first,
    std::span<const std::uint32_t> second) const {
  ListExperiment experiment;
  experiment.picks = TeamDraft(first, second, max_results_, ThreadRandom());
  experiment.ranker_b =
      served_ == nullptr ? std::string(kRequestOrder) : RankerName(*served_);
  return experiment;
}

// The rankings take their snapshots of the catalog one after the other, so the
// second may have a document that was put after the first one, whose records
// the response names.
void SecondRanking::DropProblems(const RankResult& first) {
  if (first.problems.empty()) return;
  absl::flat_hash_set<std::uint32_t> dropped;
  for (const ItemProblem& problem : first.problems) {
    dropped.insert(problem.index);
  }
  std::vector<DraftPick> kept;
  for (std::size_t i = 0; i < result_.ranking.size(); ++i) {
    if (dropped.contains(result_.ranking[i].index)) continue;
    kept.push_back({.place = static_cast<std::uint32_t>(i)});
  }
  ApplyToResult(kept, {}, result_);
}

// Sets the second ranking to the results of `first` in request order. Without a
// model it has no scores of its own. Candidates that `first` could not score
// are in neither ranking.
void SecondRanking::UseRequestOrder(const RankResult& first) {
  std::vector<DraftPick> order(first.ranking.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i].place = static_cast<std::uint32_t>(i);
  }
  std::ranges::sort(order, {}, [&](const DraftPick& pick) {
    return first.ranking[pick.place].index;
  });
  result_.ranking = first.ranking;
  result_.names = first.names;
  result_.parts = first.parts;
  ApplyToResult(order, {}, result_);
}

}  // namespace semrank
