#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "model/base/status_macros.h"
#include "semrank/v1/catalog_service.pb.h"
#include "server/base/errors.h"
#include "server/catalog/search/catalog_searcher.h"
#include "server/requests/document_keys.h"
#include "server/requests/experiments.h"
#include "server/requests/handlers.h"
#include "server/requests/impressions.h"
#include "server/requests/message_fields.h"
#include "server/requests/wire_reader.h"

namespace semrank {
namespace {

// A search scans the catalog, a slice of documents at a time, and then shows
// what it found: as it is, with two results exchanged, or interleaved with the
// ranking of a second model. The catalog has vectors of one model only, so the
// second model ranks the best hits of the first, by their keys.

// Model B of an interleaved search ranks this many of the hits of model A, or
// as many as the request wants if that is more.
constexpr std::uint32_t kMinSecondResults = 100;

constexpr std::uint32_t kDefaultTopK = 10;

// The ranking of model B. Views the search's snapshot.
struct HitRanking {
  HitRanking(ServedModelPtr served, std::uint32_t max_results)
      : second(std::move(served), max_results) {}

  void Begin(const SearchInput& search, const SearchResult& result);

  SecondRanking second;
  RankInput input = {};  // no ids: it has not begun
  std::vector<std::uint64_t> ids = {};
  std::vector<std::string_view> names = {};
  // The places of the candidates among the hits.
  std::vector<std::uint32_t> places = {};
};

// RankInput numbers its candidates by kind: all ids, then all names. `places`
// leads from there back to the hits.
void HitRanking::Begin(const SearchInput& search, const SearchResult& result) {
  std::vector<std::uint32_t> places_of_names;
  for (std::uint32_t i = 0; i < result.hits.size(); ++i) {
    const DocumentKeyView key =
        result.snapshot.record(result.hits[i].slot).key();
    if (const auto* const number = std::get_if<std::uint64_t>(&key)) {
      ids.push_back(*number);
      places.push_back(i);
    } else {
      names.push_back(std::get<std::string_view>(key));
      places_of_names.push_back(i);
    }
  }
  places.insert(places.end(), places_of_names.begin(), places_of_names.end());
  input = {.query = search.query,
           .ids = ids,
           .document_ids = names,
           .min_score = search.min_score,
           .wanted = {search.parts, search.with_parts},
           .name_match = search.name_match};
}

class SearchHandler final : public HandlerOf<v1::SearchDocumentsResponse> {
 public:
  using HandlerOf::HandlerOf;

  absl::StatusOr<RequestSize> Read(std::string_view bytes) override;
  void EachText(TakeText take) const override { take(input_.query); }
  absl::StatusOr<Progress> RunSlice(const RequestRun& run) override;

 private:
  absl::Status ReadMessage(std::string_view bytes);
  absl::Status CheckInterleavedSearch(const ModelRefView& model) const;
  // `top_k`, or --max_top_k if that is lower.
  std::uint32_t WithinMaxTopK(std::uint32_t top_k) const {
    return static_cast<std::uint32_t>(
        std::min<std::int64_t>(top_k, parts_.limits.max_top_k));
  }
  // Returns the permits of a second ranking; 0 = there is none.
  absl::StatusOr<std::int64_t> BeginSecond();
  absl::StatusOr<Progress> SearchAndRank(const RequestRun& run);
  void Interleave();
  void Explore();
  void AddHits();
  void AddImpression();

  // `input_` refers to excluded_, and both refer to the request's bytes.
  DocumentKeys excluded_keys_{"exclude_ids", "exclude_document_ids"};
  std::vector<DocumentKeyView> excluded_;
  bool with_titles_ = false;
  bool with_payloads_ = false;
  ImpressionView impression_;
  InterleaveView interleave_;
  SearchInput input_;
  bool begun_ = false;
  SearchResult result_;
  bool is_searched_ = false;
  std::unique_ptr<HitRanking> second_;  // null = it is not interleaved
  ListExperiment experiment_;
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
  SEMRANK_ASSIGN_OR_RETURN(const std::int64_t more_permits, BeginSecond());
  // The largest request must be admitted when it comes alone.
  return RequestSize{std::min(num_permits + more_permits,
                              std::int64_t{parts_.limits.max_inflight_texts}),
                     bytes.size()};
}

absl::Status SearchHandler::CheckInterleavedSearch(
    const ModelRefView& model) const {
  if (!interleave_.is_wanted) return absl::OkStatus();
  SEMRANK_RETURN_IF_ERROR(
      CheckInterleave({.model = model,
                       .interleave = interleave_,
                       .has_impression = impression_.is_wanted}));
  if (interleave_.request_order) {
    return FieldError("INVALID_FIELD", "interleave.request_order",
                      "is for Rank, whose requests have candidates");
  }
  if (input_.offset == 0) return absl::OkStatus();
  return FieldError("INVALID_FIELD", "offset",
                    "is for lists of one ranking, not with interleave");
}

absl::StatusOr<std::int64_t> SearchHandler::BeginSecond() {
  ServedModelPtr model;
  if (interleave_.is_wanted) {
    SEMRANK_ASSIGN_OR_RETURN(model, FindModel(interleave_.b, *parts_.models));
    SEMRANK_RETURN_IF_ERROR(CheckParts(*model->model, input_.parts));
  } else if (impression_.is_wanted && input_.offset == 0) {
    model = ChooseSecondModel(*result_.snapshot.model(), parts_);
    // The caller has not asked for it.
    if (model != nullptr && !CheckParts(*model->model, input_.parts).ok()) {
      model = nullptr;
    }
  }
  if (model == nullptr) return 0;
  // Model A retrieves more hits than a short list shows; otherwise B could only
  // reorder A's results. The draft cuts the list to the requested length.
  second_ = std::make_unique<HitRanking>(std::move(model), input_.top_k);
  input_.top_k = std::max(input_.top_k, WithinMaxTopK(kMinSecondResults));
  return 1 + std::int64_t{input_.top_k};
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
      WireField(Request::kImpressionFieldNumber, impression_),
      WireField(Request::kInterleaveFieldNumber, interleave_)));
  if (input_.top_k == 0) input_.top_k = WithinMaxTopK(kDefaultTopK);
  SEMRANK_RETURN_IF_ERROR(CheckImpression(impression_, parts_.events));
  SEMRANK_RETURN_IF_ERROR(CheckInterleavedSearch(model));
  // `interleave` excludes `model`, so that its `a` may take its place.
  if (interleave_.is_wanted) model = interleave_.a;
  input_.model_name = parts_.models->NameOf(model.name);
  input_.model_version = model.version;
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
  SEMRANK_ASSIGN_OR_RETURN(const Progress progress, SearchAndRank(run));
  if (progress == Progress::kMore) return progress;
  if (second_ != nullptr) {
    Interleave();
  } else if (impression_.is_wanted && input_.offset == 0) {
    // Later pages stay as they are: exploration is of the first ten results.
    Explore();
  }
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

absl::StatusOr<Progress> SearchHandler::SearchAndRank(const RequestRun& run) {
  if (!is_searched_) {
    SEMRANK_ASSIGN_OR_RETURN(
        const Progress progress,
        parts_.catalog->searcher.RunSlice(input_, run, parts_.workers,
                                          progress_, result_));
    if (progress == Progress::kMore) return progress;
    is_searched_ = true;
    if (second_ != nullptr) second_->Begin(input_, result_);
  }
  if (second_ == nullptr) return Progress::kDone;
  return second_->second.RunSlice(*parts_.ranking, second_->input, run);
}

// Both rankings are of places among the hits of model A.
void SearchHandler::Interleave() {
  const RankResult& second = second_->second.result();
  std::vector<std::uint32_t> first_places(result_.hits.size());
  std::iota(first_places.begin(), first_places.end(), 0);
  std::vector<std::uint32_t> second_places;
  std::vector<CatalogHit> hits;
  std::vector<SearchResult::Cosines> cosines;
  for (std::size_t i = 0; i < second.ranking.size(); ++i) {
    const RankedDocument& document = second.ranking[i];
    const std::uint32_t place = second_->places[document.index];
    second_places.push_back(place);
    hits.push_back({.slot = result_.hits[place].slot, .score = document.score});
    if (!second.names.empty()) hits.back().name = second.names[i];
    if (!input_.with_parts) continue;
    // A model lacks a part, or has both.
    const PartScores& parts = second.parts;
    cosines.push_back(
        {.semantic = parts.semantic.empty() ? 0 : parts.semantic[i],
         .lexical = parts.lexical.empty() ? 0 : parts.lexical[i]});
  }
  second_->second.AddTimesTo(result_.times);
  experiment_ = second_->second.Draft(first_places, second_places);
  ApplyDraft(experiment_.picks, hits, result_.hits);
  ApplyDraft(experiment_.picks, cosines, result_.cosines);
}

void SearchHandler::Explore() {
  const auto first_unnamed =
      std::ranges::find(result_.hits, NameMatch::kNone, &CatalogHit::name);
  experiment_.swapped = ChoosePair(parts_.experiments.explore_rate,
                                   first_unnamed - result_.hits.begin(),
                                   result_.hits.size(), ThreadRandom());
  Exchange(experiment_.swapped, result_.hits);
  Exchange(experiment_.swapped, result_.cosines);
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
  Impression impression =
      BeginImpression(impression_, input_.query, *result_.snapshot.model());
  const std::size_t length = result_.hits.size();
  for (std::size_t i = 0; i < std::min(length, kMaxShownResults); ++i) {
    const CatalogHit& hit = result_.hits[i];
    const CatalogRecord& record = result_.snapshot.record(hit.slot);
    impression.results.push_back({.document = NameOfDocument(record),
                                  .title = std::string(record.title()),
                                  .score = hit.score});
  }
  experiment_.AddTo(impression);
  response_.set_impression_id(parts_.events->AddImpression(
      std::move(impression), static_cast<std::uint32_t>(length)));
}

}  // namespace

SEMRANK_DEFINE_HANDLER(SearchDocuments, SearchHandler)

}  // namespace semrank
