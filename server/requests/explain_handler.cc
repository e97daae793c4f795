#include <string>
#include <string_view>
#include <vector>

#include "model/base/status_macros.h"
#include "semrank/v1/ranking_service.pb.h"
#include "server/base/errors.h"
#include "server/ranking/explainer.h"
#include "server/requests/handlers.h"
#include "server/requests/message_fields.h"
#include "server/requests/wire_reader.h"

namespace semrank {
namespace {

using Words = google::protobuf::RepeatedPtrField<v1::WordContribution>;
using Winners = google::protobuf::RepeatedPtrField<v1::PoolingWinner>;

// Contributions are differences to the pair's own scores. They do not add up,
// since towers are not linear; the lexical parts do.
void SetWords(const std::vector<WordContribution>& words,
              const ScoreParts& pair, Words& out) {
  for (const WordContribution& word : words) {
    v1::WordContribution& contribution = *out.Add();
    contribution.set_word(word.word);
    contribution.set_score_without(word.without.score);
    contribution.set_contribution(pair.score - word.without.score);
    contribution.set_semantic_contribution(pair.semantic -
                                           word.without.semantic);
    contribution.set_lexical_contribution(pair.lexical - word.without.lexical);
    contribution.set_num_features(word.num_features);
    contribution.set_num_known_features(word.num_known_features);
    contribution.set_in_other_text(word.in_other_text);
    float lexical = 0;
    for (const NgramMatch& match : word.matches) {
      v1::NgramMatch& out_match = *contribution.add_matches();
      out_match.set_ngram(match.ngram);
      out_match.set_lexical_part(match.lexical);
      lexical += match.lexical;
    }
    contribution.set_lexical_part(lexical);
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

class ExplainHandler final : public HandlerOf<v1::ExplainResponse> {
 public:
  explicit ExplainHandler(const ServerParts& parts)
      : HandlerOf(parts), explainer_(parts.ranking) {}

  absl::StatusOr<RequestSize> Read(std::string_view bytes) override;
  absl::StatusOr<Progress> RunSlice(const RequestRun& run) override;

 private:
  // The title of the document that `key` names in the catalog.
  absl::Status FindTitle(const DocumentKeyView& key);

  const Explainer explainer_;
  // The title of the candidate: a view into the request's bytes or, for a
  // document of the catalog, into the record that snapshot_ keeps alive.
  CatalogSnapshot snapshot_;
  std::string_view title_;
  Explainer::Request request_;
  ServedModelPtr served_;
  Explanation result_;
};

absl::StatusOr<RequestSize> ExplainHandler::Read(std::string_view bytes) {
  using v1::ExplainRequest;
  std::string_view query;
  std::string_view title;
  std::uint64_t id = 0;
  // `candidate` is a oneof. Its cases have the numbers of their fields, and the
  // last one on the wire counts, so `title` may take either string. This is
  // written out instead of ReadField because reading a field also selects the
  // case.
  int candidate = ExplainRequest::CANDIDATE_NOT_SET;
  ModelRefView model;
  WireReader reader(bytes);
  while (reader.Next()) {
    const int field = reader.field();
    switch (field) {
      case ExplainRequest::kQueryFieldNumber:
        reader.Read(query);
        break;
      case ExplainRequest::kTitleFieldNumber:
      case ExplainRequest::kDocumentIdFieldNumber:
        if (reader.Read(title)) candidate = field;
        break;
      case ExplainRequest::kIdFieldNumber:
        if (reader.ReadFixed64(id)) candidate = field;
        break;
      case ExplainRequest::kModelFieldNumber:
        ReadFrom(reader, model);
        break;
      case ExplainRequest::kMaxPoolingUnitsFieldNumber:
        reader.Read(request_.max_pooling_units);
        break;
      case ExplainRequest::kPartsFieldNumber:
        ReadFrom(reader, request_.parts);
        break;
      default:
        reader.Skip();
    }
  }
  SEMRANK_RETURN_IF_ERROR(reader.Finish(*ExplainRequest::descriptor()));
  // Read normalises the two texts before the request is admitted, which no
  // other method does: the number of words is what an Explain costs. Both are
  // bounded by --max_text_bytes.
  SEMRANK_ASSIGN_OR_RETURN(served_, FindModel(model, *parts_.models));
  switch (candidate) {
    case ExplainRequest::kTitle:
      title_ = title;
      break;
    case ExplainRequest::kId:
      SEMRANK_RETURN_IF_ERROR(FindTitle(id));
      break;
    case ExplainRequest::kDocumentId:
      SEMRANK_RETURN_IF_ERROR(CheckUtf8("document_id", title));
      SEMRANK_RETURN_IF_ERROR(FindTitle(title));
      break;
    default:
      return FieldError("INVALID_FIELD", "candidate",
                        "is not set: give a title, an id or a document_id");
  }
  SEMRANK_RETURN_IF_ERROR(explainer_.Read(*served_, query, title_, request_));
  SEMRANK_RETURN_IF_ERROR(explainer_.Check(*served_, request_));
  return RequestSize{request_.num_texts, request_.num_bytes};
}

absl::Status ExplainHandler::FindTitle(const DocumentKeyView& key) {
  // The snapshot is held to the end, since the title is a view of the record.
  snapshot_ = parts_.catalog->documents.TakeSnapshot();
  const auto slot = snapshot_.Find(key);
  if (!slot.has_value()) {
    return DocumentNotFound(key.index() == 0 ? "id" : "document_id");
  }
  title_ = snapshot_.record(*slot).title();
  return absl::OkStatus();
}

absl::StatusOr<Progress> ExplainHandler::RunSlice(const RequestRun& run) {
  SEMRANK_ASSIGN_OR_RETURN(
      const Progress progress,
      explainer_.RunSlice(*served_, run, request_, result_));
  if (progress == Progress::kMore) return progress;
  response_.set_score(result_.parts.score);
  response_.set_semantic_part(result_.parts.semantic);
  response_.set_lexical_part(result_.parts.lexical);
  response_.set_score_kind(served_->model->config().score_kind());
  SetWords(result_.query_words, result_.parts,
           *response_.mutable_query_words());
  SetWords(result_.title_words, result_.parts,
           *response_.mutable_title_words());
  SetWinners(result_.query_pooling, *response_.mutable_query_pooling());
  SetWinners(result_.title_pooling, *response_.mutable_title_pooling());
  // A document of the catalog may have another title since the request was
  // sent, so the response says which one was explained.
  response_.set_title(std::string(title_));
  SetModel(*served_, response_);
  SetTimings(run, result_.times, response_);
  return Progress::kDone;
}

}  // namespace

SEMRANK_DEFINE_HANDLER(Explain, ExplainHandler)

}  // namespace semrank
