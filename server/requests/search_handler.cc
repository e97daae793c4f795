#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/base/status_macros.h"
#include "semrank/v1/catalog_service.pb.h"
#include "server/base/errors.h"
#include "server/catalog/search/catalog_searcher.h"
#include "server/requests/document_keys.h"
#include "server/requests/handlers.h"
#include "server/requests/impressions.h"
#include "server/requests/message_fields.h"
#include "server/requests/wire_reader.h"

namespace semrank {
namespace {

class SearchHandler final : public HandlerOf<v1::SearchDocumentsResponse> {
 public:
  using HandlerOf::HandlerOf;

  absl::StatusOr<RequestSize> Read(std::string_view bytes) override;
  absl::StatusOr<Progress> RunSlice(const RequestRun& run) override;

 private:
  absl::Status ReadMessage(std::string_view bytes);
  void AddHits();
  void AddImpression();

  // `input_` refers to excluded_, and both refer to the request's bytes.
  DocumentKeys excluded_keys_{"exclude_ids", "exclude_document_ids"};
  std::vector<DocumentKeyView> excluded_;
  bool with_titles_ = false;
  bool with_payloads_ = false;
  ImpressionView impression_;
  SearchInput input_;
  bool begun_ = false;
  SearchResult result_;
  // Last, since it refers to input_ and result_; destroying it waits for
  // helpers.
  SearchState progress_;
};

// Begin takes the snapshot that the whole search reads. Its size decides how
// many permits the scan needs, so it comes before the check of the fields.
absl::StatusOr<RequestSize> SearchHandler::Read(std::string_view bytes) {
  SEMRANK_RETURN_IF_ERROR(ReadMessage(bytes));
  const std::int64_t num_permits = parts_.catalog->searcher.Begin(result_);
  SEMRANK_RETURN_IF_ERROR(parts_.catalog->searcher.Check(input_, result_));
  return RequestSize{num_permits, bytes.size()};
}

absl::Status SearchHandler::ReadMessage(std::string_view bytes) {
  using Request = v1::SearchDocumentsRequest;
  ModelRefView model;
  SEMRANK_RETURN_IF_ERROR(ReadFields<Request>(
      bytes, parts_.limits.max_texts_per_request,
      WireField(Request::kQueryFieldNumber, input_.query),
      WireField(Request::kTopKFieldNumber, input_.top_k),
      WireField(Request::kMinScoreFieldNumber, input_.min_score),
      WireField(Request::kExcludeIdsFieldNumber, excluded_keys_.ids()),
      WireField(Request::kExcludeDocumentIdsFieldNumber,
                excluded_keys_.names()),
      WireField(Request::kModelFieldNumber, model),
      WireField(Request::kWithTitlesFieldNumber, with_titles_),
      WireField(Request::kWithPayloadsFieldNumber, with_payloads_),
      WireField(Request::kPartsFieldNumber, input_.parts),
      WireField(Request::kWithPartsFieldNumber, input_.with_parts),
      WireField(Request::kFilterFieldNumber, input_.filter),
      WireField(Request::kOffsetFieldNumber, input_.offset),
      WireField(Request::kNameMatchFieldNumber, input_.name_match),
      WireField(Request::kImpressionFieldNumber, impression_)));
  input_.model_name = parts_.models->NameOf(model.name);
  input_.model_version = model.version;
  SEMRANK_RETURN_IF_ERROR(CheckImpression(impression_, parts_.events));
  return CheckModelName(model);
}

absl::StatusOr<Progress> SearchHandler::RunSlice(const RequestRun& run) {
  // Names are checked in the first slice, after admission. `excluded_` is
  // filled once and never resized, because input_.excluded views it.
  if (!std::exchange(begun_, true)) {
    SEMRANK_RETURN_IF_ERROR(excluded_keys_.CheckNames());
    excluded_ = excluded_keys_.Views();
    input_.excluded = excluded_;
  }
  SEMRANK_ASSIGN_OR_RETURN(
      const Progress progress,
      parts_.catalog->searcher.RunSlice(input_, run, parts_.workers, progress_,
                                        result_));
  if (progress == Progress::kMore) return progress;
  AddHits();
  if (impression_.is_wanted) AddImpression();
  response_.set_num_documents_searched(result_.num_documents_searched);
  const ServedModelPtr served = result_.snapshot.model();
  SetModel(*served, response_);
  response_.set_score_kind(served->model->config().score_kind());
  SetQueryKnown(result_.query_known, response_);
  SetTimings(run, result_.times, response_);
  return Progress::kDone;
}

// Titles and payloads are copied only for the hits that are returned, while the
// snapshot still holds their records.
void SearchHandler::AddHits() {
  for (const CatalogHit& hit : result_.hits) {
    const CatalogRecord& record = result_.snapshot.record(hit.slot);
    v1::DocumentHit& out = *response_.add_hits();
    SetKey(record.key(), out);
    out.set_score(hit.score);
    out.set_name_match(ToProto(hit.name));
    if (with_titles_) out.set_title(std::string(record.title()));
    if (with_payloads_) out.set_payload(std::string(record.payload()));
  }
  // There is one for each hit if the request asked for both parts, else none.
  for (std::size_t i = 0; i < result_.cosines.size(); ++i) {
    v1::DocumentHit& out = *response_.mutable_hits(static_cast<int>(i));
    out.set_semantic_score(result_.cosines[i].semantic);
    out.set_lexical_score(result_.cosines[i].lexical);
  }
}

void SearchHandler::AddImpression() {
  Impression impression = BeginImpression(
      impression_, input_.query, *result_.snapshot.model(), *parts_.events);
  const std::size_t length = result_.hits.size();
  for (std::size_t i = 0; i < std::min(length, kMaxShownResults); ++i) {
    const CatalogHit& hit = result_.hits[i];
    const CatalogRecord& record = result_.snapshot.record(hit.slot);
    impression.results.push_back({.document = NameOfDocument(record),
                                  .title = std::string(record.title()),
                                  .score = hit.score});
  }
  response_.set_impression_id(parts_.events->AddImpression(
      std::move(impression), static_cast<std::uint32_t>(length)));
}

}  // namespace

std::unique_ptr<RequestHandler> MakeSearchDocumentsHandler(
    const ServerParts& parts) {
  return std::make_unique<SearchHandler>(parts);
}

}  // namespace semrank
