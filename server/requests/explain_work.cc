#include "server/requests/explain_work.h"

#include <string>

#include "model/base/status_macros.h"
#include "server/base/errors.h"
#include "server/requests/message_parser.h"
#include "server/requests/request_run.h"
#include "server/requests/response_fields.h"

namespace semrank {
namespace {

using Words = google::protobuf::RepeatedPtrField<v1::WordContribution>;
using Winners = google::protobuf::RepeatedPtrField<v1::PoolingWinner>;

void SetWords(const std::vector<WordContribution>& words, float score,
              Words& out) {
  for (const WordContribution& word : words) {
    v1::WordContribution& contribution = *out.Add();
    contribution.set_word(word.word);
    contribution.set_score_without(word.score_without);
    contribution.set_contribution(score - word.score_without);
    contribution.set_num_features(word.num_features);
    contribution.set_num_known_features(word.num_known_features);
  }
}

void SetWinners(const std::vector<PoolingWinner>& winners, Winners& out) {
  for (const PoolingWinner& winner : winners) {
    v1::PoolingWinner& unit = *out.Add();
    unit.set_unit(winner.unit);
    unit.set_activation(winner.activation);
    unit.set_position(winner.position);
    unit.set_word(winner.word);
    unit.set_window(winner.window);
  }
}

}  // namespace

absl::StatusOr<WorkSize> ExplainWork::Measure(const TextCount& count) {
  found_texts_ = FindTexts(count);
  if (found_texts_.ok()) {
    SEMRANK_RETURN_IF_ERROR(explainer_.CheckSize(request_));
  }
  return WorkSize{request_.num_texts, request_.num_bytes};
}

absl::Status ExplainWork::FindTexts(const TextCount& count) {
  if (count.title.has_value()) {
    title_ = *count.title;
  } else if (count.key.has_value()) {
    snapshot_ = environment_.catalog_writer->catalog().TakeSnapshot();
    const auto slot = snapshot_.Find(*count.key);
    if (!slot.has_value()) {
      return DocumentNotFound(count.key->index() == 0 ? "id" : "document_id");
    }
    title_ = snapshot_.record(*slot).title();
  } else {
    return FieldError("INVALID_FIELD", "candidate",
                      "is not set: give a title, an id or a document_id");
  }
  return explainer_.Read(count.query, title_, request_);
}

absl::Status ExplainWork::Read(std::string_view bytes) {
  v1::ExplainRequest message;
  SEMRANK_RETURN_IF_ERROR(ParseMessage(bytes, message));
  SEMRANK_RETURN_IF_ERROR(found_texts_);
  SEMRANK_ASSIGN_OR_RETURN(
      served_, environment_.models->Find(message.model().name(),
                                         message.model().version()));
  request_.max_pooling_units = message.max_pooling_units();
  return absl::OkStatus();
}

absl::StatusOr<Progress> ExplainWork::Advance(const RequestRun& run) {
  SEMRANK_ASSIGN_OR_RETURN(
      const Progress progress,
      explainer_.RunSlice(*served_, run, request_, result_));
  if (progress == Progress::kMore) return progress;
  response_.set_score(result_.score);
  response_.set_score_kind(served_->model->config().score_kind());
  SetWords(result_.query_words, result_.score,
           *response_.mutable_query_words());
  SetWords(result_.title_words, result_.score,
           *response_.mutable_title_words());
  SetWinners(result_.query_pooling, *response_.mutable_query_pooling());
  SetWinners(result_.title_pooling, *response_.mutable_title_pooling());
  response_.set_title(std::string(title_));
  SetModel(*served_, response_);
  run.AddOwnTimes(result_.times);
  SetTimings(result_.times, run.TimeSinceReceived(),
             *response_.mutable_timings());
  return Progress::kDone;
}

}  // namespace semrank
