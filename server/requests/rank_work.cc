#include "server/requests/rank_work.h"

#include <string>
#include <utility>

#include "model/base/status_macros.h"
#include "server/base/errors.h"
#include "server/requests/request_run.h"
#include "server/requests/response_fields.h"

namespace semrank {

absl::StatusOr<WorkSize> RankWork::Measure(const TextCount& count) {
  num_listed_ = count.num_items;
  auto served =
      environment_.models->Find(count.model_name, count.model_version);
  found_ = served.status();
  if (served.ok()) served_ = *std::move(served);
  const std::int64_t max_texts =
      environment_.ranking->limits().max_texts_per_request;
  const std::int64_t num_candidates = count.num_items + CountVectors(count);
  if (count.num_items <= max_texts && num_candidates > max_texts) {
    return TooManyTexts("vectors", num_candidates, max_texts);
  }
  return WorkSize{1 + num_candidates, count.num_bytes};
}

// None under a model without vectors, or without a model: Read refuses those.
std::int64_t RankWork::CountVectors(const TextCount& count) const {
  const int dim = served_ == nullptr ? 0 : served_->model->embedding_dim();
  if (dim == 0) return 0;
  return static_cast<std::int64_t>(count.vector_bytes / (sizeof(float) * dim));
}

absl::Status RankWork::Read(std::string_view bytes) {
  SEMRANK_RETURN_IF_ERROR(ReadRankRequest(bytes, num_listed_, message_));
  SEMRANK_RETURN_IF_ERROR(found_);
  return environment_.ranking->Check(*served_, message_.input);
}

absl::StatusOr<Progress> RankWork::Advance(const RequestRun& run) {
  SEMRANK_ASSIGN_OR_RETURN(const Progress progress,
                           environment_.ranking->RunSlice(
                               *served_, message_.input, run, state_, result_));
  if (progress == Progress::kMore) return progress;
  FillRanking();
  response_.set_score_kind(served_->model->config().score_kind());
  run.AddOwnTimes(result_.times);
  SetFacts(*served_, result_.cache, result_.times, run.TimeSinceReceived(),
           response_);
  return Progress::kDone;
}

void RankWork::FillRanking() {
  const int size = static_cast<int>(result_.ranking.size());
  response_.mutable_indices()->Reserve(size);
  response_.mutable_scores()->Reserve(size);
  for (const RankedDocument& document : result_.ranking) {
    response_.mutable_indices()->AddAlreadyReserved(document.index);
    response_.mutable_scores()->AddAlreadyReserved(document.score);
  }
  SetProblems(result_.problems, response_);
  if (!message_.with_titles) return;
  for (const RankedDocument& document : result_.ranking) {
    response_.add_titles(std::string(TitleOf(document.index)));
  }
}

std::string_view RankWork::TitleOf(std::uint32_t candidate) const {
  const std::size_t num_titles = message_.titles.size();
  if (candidate < num_titles) return message_.titles[candidate];
  const RankedCatalog& catalog = result_.catalog;
  const std::size_t place = candidate - num_titles;
  if (place >= catalog.slots.size()) return "";  // a vector
  return catalog.snapshot.record(catalog.slots[place]).title();
}

}  // namespace semrank
