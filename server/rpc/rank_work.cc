#include "server/rpc/rank_work.h"

#include <string>

#include "model/base/status_macros.h"
#include "server/rpc/request_run.h"
#include "server/rpc/response_fields.h"

namespace semrank {

absl::StatusOr<WorkSize> RankWork::Read(std::string_view bytes) {
  const RankingEngine& engine = *environment_.ranking;
  SEMRANK_RETURN_IF_ERROR(ReadRankRequest(bytes, engine.limits(), message_));
  SEMRANK_ASSIGN_OR_RETURN(served_,
                           environment_.models->Find(message_.model.name(),
                                                     message_.model.version()));
  SEMRANK_RETURN_IF_ERROR(engine.Check(*served_, message_.input));
  // Without vectors there is perhaps no dimension to divide by.
  const std::size_t num_vectors =
      message_.input.vectors.empty()
          ? 0
          : message_.input.vectors.size() /
                (sizeof(float) * served_->model->embedding_dim());
  return WorkSize{
      static_cast<std::int64_t>(1 + message_.input.num_named() + num_vectors),
      bytes.size()};
}

absl::StatusOr<Progress> RankWork::Advance(const RequestRun& run) {
  SEMRANK_ASSIGN_OR_RETURN(const Progress progress,
                           environment_.ranking->Turn(*served_, message_.input,
                                                      run, turns_, result_));
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
