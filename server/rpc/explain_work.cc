#include "server/rpc/explain_work.h"

#include <utility>

#include "model/base/status_macros.h"
#include "server/core/errors.h"
#include "server/rpc/message_parser.h"
#include "server/rpc/request_run.h"
#include "server/rpc/response_fields.h"

namespace semrank {
namespace {

using Words = google::protobuf::RepeatedPtrField<v1::WordContribution>;
using Winners = google::protobuf::RepeatedPtrField<v1::PoolingWinner>;

absl::Status CheckCandidate(const v1::ExplainRequest& message) {
  switch (message.candidate_case()) {
    case v1::ExplainRequest::kTitle:
    case v1::ExplainRequest::kId:
    case v1::ExplainRequest::kDocumentId:
      return absl::OkStatus();
    case v1::ExplainRequest::CANDIDATE_NOT_SET:
      break;
  }
  return FieldError("INVALID_FIELD", "candidate",
                    "is not set: give a title, an id or a document_id");
}

// Puts the title in the place of a document's key.
absl::Status FindTitle(const DocumentCatalog& catalog,
                       v1::ExplainRequest& message) {
  if (message.has_title()) return absl::OkStatus();
  const DocumentKeyView key =
      message.has_id()
          ? DocumentKeyView(message.id())
          : DocumentKeyView(std::string_view(message.document_id()));
  const DocumentCatalog::Snapshot snapshot = catalog.TakeSnapshot();
  const auto slot = snapshot.Find(key);
  if (!slot.has_value()) {
    return DocumentNotFound(message.has_id() ? "id" : "document_id");
  }
  message.set_title(std::string(snapshot.record(*slot).title()));
  return absl::OkStatus();
}

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

absl::StatusOr<WorkSize> ExplainWork::Read(std::string_view bytes) {
  SEMRANK_RETURN_IF_ERROR(ParseMessage(bytes, message_));
  SEMRANK_RETURN_IF_ERROR(CheckCandidate(message_));
  SEMRANK_RETURN_IF_ERROR(
      FindTitle(environment_.catalog_writer->catalog(), message_));
  SEMRANK_ASSIGN_OR_RETURN(
      served_, environment_.models->Find(message_.model().name(),
                                         message_.model().version()));
  SEMRANK_RETURN_IF_ERROR(
      explainer_.Read(message_.query(), message_.title(), request_));
  request_.max_pooling_units = message_.max_pooling_units();
  return WorkSize{request_.num_texts, request_.num_bytes};
}

absl::StatusOr<Progress> ExplainWork::Advance(const RequestRun& run) {
  SEMRANK_ASSIGN_OR_RETURN(const Progress progress,
                           explainer_.Turn(*served_, run, request_, result_));
  if (progress == Progress::kMore) return progress;
  response_.set_score(result_.score);
  response_.set_score_kind(served_->model->config().score_kind());
  SetWords(result_.query_words, result_.score,
           *response_.mutable_query_words());
  SetWords(result_.title_words, result_.score,
           *response_.mutable_title_words());
  SetWinners(result_.query_pooling, *response_.mutable_query_pooling());
  SetWinners(result_.title_pooling, *response_.mutable_title_pooling());
  response_.set_title(std::move(*message_.mutable_title()));
  SetModel(*served_, response_);
  run.AddOwnTimes(result_.times);
  SetTimings(result_.times, run.TimeSinceReceived(),
             *response_.mutable_timings());
  return Progress::kDone;
}

}  // namespace semrank
