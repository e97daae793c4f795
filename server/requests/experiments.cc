#include "server/requests/experiments.h"

#include <algorithm>
#include <random>

#include "absl/strings/str_cat.h"
#include "model/base/status_macros.h"
#include "semrank/v1/common.pb.h"
#include "server/base/errors.h"

namespace semrank {

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
                      "needs \"impression\", which keeps who contributed what");
  }
  // `model` could contradict `a`, so only one of them may be set.
  if (!request.model.name.empty() || request.model.version != 0) {
    return FieldError("INVALID_FIELD", "model",
                      "stands beside interleave, whose a names the model");
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

}  // namespace semrank
