#include "server/requests/rank_handler.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "model/base/status_macros.h"
#include "semrank/v1/ranking_service.pb.h"
#include "server/base/errors.h"
#include "server/ranking/shadow_ranker.h"
#include "server/requests/error_status.h"
#include "server/requests/handlers.h"
#include "server/requests/wire_reader.h"

namespace semrank {
namespace {

using v1::RankRequest;
using v1::RankStreamRequest;

// Rank and the nested message of a RankStreamRequest both use it, so that they
// read the same fields.
void ReadRankField(WireReader& reader, RankMessage& message) {
  RankInput& input = message.input;
  reader.ReadField(
      WireField(RankRequest::kTitlesFieldNumber, message.titles),
      WireField(RankRequest::kIdsFieldNumber, message.ids),
      WireField(RankRequest::kDocumentIdsFieldNumber, message.document_ids),
      WireField(RankRequest::kQueryFieldNumber, input.query),
      WireField(RankRequest::kVectorsFieldNumber, input.vectors),
      WireField(RankRequest::kTopKFieldNumber, input.top_k),
      WireField(RankRequest::kMinScoreFieldNumber, input.min_score),
      WireField(RankRequest::kModelFieldNumber, message.model),
      WireField(RankRequest::kWithTitlesFieldNumber, message.with_titles),
      WireField(RankRequest::kFilterFieldNumber, input.filter),
      WireField(RankRequest::kPartsFieldNumber, input.wanted.parts),
      WireField(RankRequest::kWithPartsFieldNumber, input.wanted.with_parts),
      WireField(RankRequest::kNameMatchFieldNumber, input.name_match),
      WireField(RankRequest::kImpressionFieldNumber, message.impression),
      WireField(RankRequest::kInterleaveFieldNumber, message.interleave));
}

// RankInput has spans over the vectors, which reallocate while fields are still
// being appended. So this comes after the last field.
void SetCandidates(RankMessage& message) {
  message.input.titles = message.titles;
  message.input.ids = message.ids;
  message.input.document_ids = message.document_ids;
}

}  // namespace

absl::Status ReadRankRequest(std::string_view bytes, std::int64_t max_texts,
                             RankMessage& message) {
  WireReader reader(bytes, max_texts);
  while (reader.Next()) ReadRankField(reader, message);
  SetCandidates(message);
  return reader.Finish(*RankRequest::descriptor());
}

namespace {

// StreamedRankHandler embeds a RankHandler that writes into the nested response
// of its own message; else the ranking would be copied once more.
class RankHandler final : public RequestHandler {
 public:
  explicit RankHandler(const ServerParts& parts)
      : parts_(parts), response_(own_response_) {}
  // The answer is complete; nothing may delay it before.
  ~RankHandler() override {
    if (shadow_request_ != nullptr) {
      parts_.shadow->Queue(std::move(shadow_request_));
    }
  }

  absl::StatusOr<RequestSize> Read(std::string_view bytes) override;
  void EachText(TakeText take) const override {
    take(message_.input.query);
    for (const std::string_view title : message_.titles) take(title);
  }
  absl::StatusOr<Progress> RunSlice(const RequestRun& run) override;
  const google::protobuf::MessageLite& response() const override {
    return response_;
  }

 private:
  friend class StreamedRankHandler;
  RankHandler(const ServerParts& parts, v1::RankResponse& response)
      : parts_(parts), response_(response) {}

  // Chooses the model and checks message_, which has been read.
  absl::StatusOr<RequestSize> Check(std::size_t num_bytes);
  // Checks a list that is to be interleaved. `model` null = with the order of
  // the request.
  absl::Status BeginSecond(ServedModelPtr model, RequestSize& size);
  absl::StatusOr<Progress> RankBoth(const RequestRun& run);
  void Explore();
  void FillRanking();
  void AddEmbeddedTitles();
  void AddImpression();
  // The result as an impression keeps it.
  ShownResult Shown(const RankedDocument& document) const;
  // The title of a candidate that was scored.
  std::string_view TitleOf(std::uint32_t candidate) const;

  const ServerParts& parts_;
  RankMessage message_;
  ServedModelPtr served_;
  RankState progress_;
  bool is_ranked_ = false;  // by the first model
  RankResult result_;
  // Null = the list is not interleaved.
  std::unique_ptr<SecondRanking> second_;
  ListExperiment experiment_;
  // Null = the request is not ranked again.
  std::shared_ptr<const ShadowRanker::Request> shadow_request_;
  v1::RankResponse own_response_;
  v1::RankResponse& response_;
};

absl::StatusOr<RequestSize> RankHandler::Read(std::string_view bytes) {
  SEMRANK_RETURN_IF_ERROR(
      ReadRankRequest(bytes, parts_.limits.max_texts_per_request, message_));
  return Check(bytes.size());
}

// The model comes first: how many candidates `vectors` are, and whether the
// parts asked for exist, depends on it. The handle keeps this model alive to
// the end of the request, whatever is reloaded.
absl::StatusOr<RequestSize> RankHandler::Check(std::size_t num_bytes) {
  SEMRANK_RETURN_IF_ERROR(CheckImpression(message_.impression, parts_.events));
  const RankInput& input = message_.input;
  SEMRANK_ASSIGN_OR_RETURN(
      ListModels models,
      ChooseModels({.model = message_.model,
                    .interleave = message_.interleave,
                    .has_impression = message_.impression.is_wanted,
                    .may_interleave = input.vectors.empty()},
                   parts_));
  served_ = std::move(models.a);
  SEMRANK_RETURN_IF_ERROR(parts_.ranking->Check(*served_, input));
  std::int64_t num_texts = 1 + static_cast<std::int64_t>(input.num_named());
  if (!input.vectors.empty()) {
    const std::size_t row_bytes =
        sizeof(float) * served_->model->embedding_dim();
    num_texts += static_cast<std::int64_t>(input.vectors.size() / row_bytes);
  }
  RequestSize size = {num_texts, num_bytes};
  if (models.is_interleaved) {
    SEMRANK_RETURN_IF_ERROR(BeginSecond(std::move(models.b), size));
  }
  return size;
}

absl::Status RankHandler::BeginSecond(ServedModelPtr model, RequestSize& size) {
  RankInput& input = message_.input;
  if (!input.vectors.empty()) {
    return FieldError("INVALID_FIELD", "vectors",
                      "are of one model; interleave takes titles, ids and "
                      "document_ids");
  }
  const std::uint32_t top_k = input.top_k;
  if (model == nullptr) {
    // The order of the request is another order of everything that is ranked.
    input.top_k = 0;
  } else {
    const absl::Status fits = parts_.ranking->Check(*model, input);
    // The caller has not asked for a list that --interleave chose.
    if (!fits.ok()) {
      return message_.interleave.is_wanted ? fits : absl::OkStatus();
    }
    // The largest request must be admitted when it comes alone.
    size.num_texts = std::min(2 * size.num_texts,
                              std::int64_t{parts_.limits.max_inflight_texts});
  }
  second_ = std::make_unique<SecondRanking>(std::move(model), top_k);
  return absl::OkStatus();
}

absl::StatusOr<Progress> RankHandler::RunSlice(const RequestRun& run) {
  SEMRANK_ASSIGN_OR_RETURN(const Progress progress, RankBoth(run));
  if (progress == Progress::kMore) return progress;
  if (second_ != nullptr) {
    experiment_ = second_->Interleave(result_);
  } else if (message_.impression.is_wanted) {
    Explore();
  }
  FillRanking();
  if (message_.impression.is_wanted) AddImpression();
  response_.set_score_kind(served_->model->config().score_kind());
  SetQueryKnown(result_.query_known, response_);
  SetFacts(run, *served_, result_, response_);
  return Progress::kDone;
}

// One ranking after the other: both use the thread's scratch memory.
absl::StatusOr<Progress> RankHandler::RankBoth(const RequestRun& run) {
  const RankingEngine& engine = *parts_.ranking;
  if (!is_ranked_) {
    SEMRANK_ASSIGN_OR_RETURN(
        const Progress progress,
        engine.RunSlice(*served_, message_.input, run, progress_, result_));
    if (progress == Progress::kMore) return progress;
    is_ranked_ = true;
    if (parts_.shadow != nullptr && second_ == nullptr &&
        parts_.shadow->Wants(ThreadRandom().Between(0, 1))) {
      shadow_request_ = parts_.shadow->Copy(*served_, message_.input, result_);
    }
  }
  if (second_ == nullptr) return Progress::kDone;
  return second_->RunSlice(engine, message_.input, run);
}

void RankHandler::Explore() {
  const auto first_unnamed = std::ranges::find(result_.names, NameMatch::kNone);
  experiment_.swapped = ChoosePair(parts_.experiments.explore_rate,
                                   first_unnamed - result_.names.begin(),
                                   result_.ranking.size(), ThreadRandom());
  Exchange(experiment_.swapped, result_.ranking);
  Exchange(experiment_.swapped, result_.parts.semantic);
  Exchange(experiment_.swapped, result_.parts.lexical);
}

// Parallel packed arrays, as in the request: an allocation for each array
// instead of a message for each candidate.
void RankHandler::FillRanking() {
  const int size = static_cast<int>(result_.ranking.size());
  response_.mutable_indices()->Reserve(size);
  response_.mutable_scores()->Reserve(size);
  // AddNAlreadyReserved writes the size of each array once, not for each item.
  auto* index = response_.mutable_indices()->AddNAlreadyReserved(size);
  float* score = response_.mutable_scores()->AddNAlreadyReserved(size);
  for (const RankedDocument& document : result_.ranking) {
    *index++ = document.index;
    *score++ = document.score;
  }
  const PartScores& parts = result_.parts;
  response_.mutable_semantic_scores()->Add(parts.semantic.begin(),
                                           parts.semantic.end());
  response_.mutable_lexical_scores()->Add(parts.lexical.begin(),
                                          parts.lexical.end());
  for (const NameMatch match : result_.names) {
    response_.add_name_matches(ToProto(match));
  }
  AddEmbeddedTitles();
  SetProblems(result_.problems, response_);
  if (!message_.with_titles) return;
  for (const RankedDocument& document : result_.ranking) {
    response_.add_titles(std::string(TitleOf(document.index)));
  }
}

// Only of the titles that are returned: a top_k of 1 among 10,000 new titles
// has one, and cache_misses has their number.
void RankHandler::AddEmbeddedTitles() {
  const std::vector<std::uint32_t>& embedded = result_.cache.embedded;
  if (embedded.empty()) return;
  auto& titles = *response_.mutable_embedded_titles();
  for (const RankedDocument& document : result_.ranking) {
    if (std::ranges::binary_search(embedded, document.index)) {
      titles.Add(document.index);
    }
  }
  std::ranges::sort(titles);
}

// Candidates have one numbering: titles, then documents of the catalog, then
// vectors. The snapshot in result_ keeps the documents' titles alive.
std::string_view RankHandler::TitleOf(std::uint32_t candidate) const {
  const std::size_t num_titles = message_.titles.size();
  if (candidate < num_titles) return message_.titles[candidate];
  const RankedCatalog& catalog = result_.catalog;
  const std::size_t place = candidate - num_titles;
  if (place >= catalog.slots.size()) return "";  // a vector
  return catalog.snapshot.record(catalog.slots[place]).title();
}

void RankHandler::AddImpression() {
  Impression impression =
      BeginImpression(message_.impression, message_.input.query, *served_);
  const std::size_t length = result_.ranking.size();
  const std::size_t num_kept = std::min(length, kMaxShownResults);
  impression.results.reserve(num_kept);
  for (std::size_t i = 0; i < num_kept; ++i) {
    impression.results.push_back(Shown(result_.ranking[i]));
  }
  experiment_.AddTo(impression);
  response_.set_impression_id(parts_.events->AddImpression(
      std::move(impression), static_cast<std::uint32_t>(length)));
}

ShownResult RankHandler::Shown(const RankedDocument& document) const {
  ShownResult shown{.title = std::string(TitleOf(document.index)),
                    .score = document.score};
  const RankedCatalog& catalog = result_.catalog;
  const std::size_t place = document.index - message_.titles.size();
  if (document.index >= message_.titles.size() &&
      place < catalog.slots.size()) {
    shown.document =
        NameOfDocument(catalog.snapshot.record(catalog.slots[place]));
  }
  return shown;
}

// One request of a RankStream: a Rank, and the number that the response
// repeats.
class StreamedRankHandler final : public HandlerOf<v1::RankStreamResponse> {
 public:
  explicit StreamedRankHandler(const ServerParts& parts)
      : HandlerOf(parts), rank_(parts, *response_.mutable_response()) {}

  absl::StatusOr<RequestSize> Read(std::string_view bytes) override;
  void EachText(TakeText take) const override { rank_.EachText(take); }
  bool ReadForRefusal(std::string_view bytes) override;
  absl::StatusOr<Progress> RunSlice(const RequestRun& run) override {
    return rank_.RunSlice(run);
  }
  v1::ModelRef model() const override { return response_.response().model(); }
  // On a stream, gRPC's status would end all of its requests. So a failure
  // travels in the response, with the details that a unary call has.
  bool SetFailure(const absl::Status& status) override {
    *response_.mutable_status() = ToRpcStatus(status);
    return true;
  }
  std::optional<std::uint64_t> request_number() const override {
    return response_.request_number();
  }

 private:
  RankHandler rank_;
};

// The number may come after the request, and the request in several parts,
// which Protobuf merges.
absl::StatusOr<RequestSize> StreamedRankHandler::Read(std::string_view bytes) {
  bool has_request = false;
  std::uint64_t number = 0;
  RankMessage& message = rank_.message_;
  // The limit on texts applies to the nested message, whose fields this reader
  // counts too.
  WireReader reader(bytes, rank_.parts_.limits.max_texts_per_request);
  const auto read_request = [&] {
    has_request |= reader.ReadMessage([&] { ReadRankField(reader, message); });
  };
  while (reader.Next()) {
    reader.ReadField(
        WireField(RankStreamRequest::kRequestNumberFieldNumber, number),
        WireField(RankStreamRequest::kRequestFieldNumber, read_request));
  }
  SetCandidates(message);
  // The number is set before any check can fail: the client matches a failed
  // response by it.
  response_.set_request_number(number);
  SEMRANK_RETURN_IF_ERROR(reader.Finish(*RankStreamRequest::descriptor(),
                                        *RankRequest::descriptor()));
  if (!has_request) return FieldError("INVALID_FIELD", "request", "is not set");
  return rank_.Check(bytes.size());
}

// The number alone: the nested message is skipped as a whole.
bool StreamedRankHandler::ReadForRefusal(std::string_view bytes) {
  std::uint64_t number = 0;
  WireReader reader(bytes);
  while (reader.Next()) {
    reader.ReadField(
        WireField(RankStreamRequest::kRequestNumberFieldNumber, number));
  }
  response_.set_request_number(number);
  return reader.Finish(*RankStreamRequest::descriptor()).ok();
}

}  // namespace

SEMRANK_DEFINE_HANDLER(Rank, RankHandler)
StreamHandlers MakeRankStream(const ServerParts& parts) {
  return [&parts] { return std::make_unique<StreamedRankHandler>(parts); };
}

}  // namespace semrank
