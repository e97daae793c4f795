// The calls of SemrankClient that take any number of texts.
#include <google/protobuf/message_lite.h>

#include <cstdint>

#include "absl/strings/str_format.h"
#include "client/lib/client_status.h"
#include "client/lib/request_pieces.h"
#include "client/lib/semrank_client.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

// A request within these is sent before the server's limits are known.
constexpr PieceLimits kUsual = {.max_texts = 1'000,
                                .max_bytes = std::int64_t{1} << 20};

bool IsWithin(const PieceLimits& size, const PieceLimits& limits) {
  return size.max_texts <= limits.max_texts &&
         size.max_bytes <= limits.max_bytes;
}

PieceLimits SizeOf(std::int64_t num_texts,
                   const google::protobuf::MessageLite& message) {
  return {.max_texts = num_texts,
          .max_bytes = static_cast<std::int64_t>(message.ByteSizeLong())};
}

// So that "titles[17]" in an error can be found in the request.
absl::Status InPieceFrom(std::int64_t begin, const absl::Status& status) {
  if (begin == 0) return status;
  return WithNote(status, absl::StrFormat("counted from number %d", begin));
}

}  // namespace

template <typename AtOnce, typename InPieces>
auto SemrankClient::WithinLimits(const PieceLimits& size, absl::Time deadline,
                                 AtOnce at_once, InPieces in_pieces)
    -> decltype(at_once()) {
  const PieceLimits likely = limits_.known().value_or(kUsual);
  if (IsWithin(size, likely)) {
    auto response = at_once();
    if (!MayBeTooLarge(response.status())) return response;
    const absl::StatusOr<PieceLimits> limits = limits_.Ask(deadline);
    if (!limits.ok()) return response;
    // What has another cause would fail in one piece again.
    const bool too_large = HasReason(response.status(), "TOO_MANY_TEXTS") ||
                           !IsWithin(size, *limits);
    return too_large ? in_pieces(*limits) : response;
  }
  SEMRANK_ASSIGN_OR_RETURN(PieceLimits limits, limits_.Get(deadline));
  auto response = in_pieces(limits);
  if (!limits_.Renew(response.status(), deadline, limits)) return response;
  return in_pieces(limits);
}

absl::StatusOr<v1::RankResponse> SemrankClient::Rank(
    const v1::RankRequest& request) {
  const absl::Time deadline = connection_.DeadlineFor();
  // Vectors count by their bytes: their dimension is not known here.
  return WithinLimits(
      SizeOf(NumCandidates(request, 0), request), deadline,
      [&] { return RankAtOnce(request, deadline); },
      [&](const PieceLimits& limits) {
        return RankInPieces(request, limits, deadline);
      });
}

absl::StatusOr<v1::RankResponse> SemrankClient::RankInPieces(
    const v1::RankRequest& request, const PieceLimits& limits,
    absl::Time deadline) {
  std::uint32_t embedding_dim = 0;
  if (!request.vectors().empty()) {
    SEMRANK_ASSIGN_OR_RETURN(const v1::Model model,
                             GetModelBy(request.model(), deadline));
    embedding_dim = model.embedding_dim();
    // Vectors of another dimension are the server's to refuse.
    if (embedding_dim == 0 ||
        request.vectors().size() % (sizeof(float) * embedding_dim) != 0) {
      return RankAtOnce(request, deadline);
    }
  }
  v1::RankResponse whole;
  SEMRANK_RETURN_IF_ERROR(SendPieces(
      NumCandidates(request, embedding_dim), request.model(),
      connection_.options().retry.max_attempts, [&] { whole.Clear(); },
      [&](std::int64_t begin,
          const v1::ModelRef& model) -> absl::StatusOr<PieceAnswer> {
        const v1::RankRequest piece =
            RankPiece(request, embedding_dim, begin, model, limits);
        const auto response = RankAtOnce(piece, deadline);
        if (!response.ok()) return InPieceFrom(begin, response.status());
        AddRankPiece(begin, *response, whole);
        return PieceAnswer{NumCandidates(piece, embedding_dim),
                           response->model()};
      }));
  FinishRank(request.top_k(), whole);
  return whole;
}

absl::StatusOr<v1::EmbedTextsResponse> SemrankClient::EmbedTexts(
    const v1::EmbedTextsRequest& request) {
  const absl::Time deadline = connection_.DeadlineFor();
  return WithinLimits(
      SizeOf(request.texts_size(), request), deadline,
      [&] { return EmbedAtOnce(request, deadline); },
      [&](const PieceLimits& limits) {
        return EmbedInPieces(request, limits, deadline);
      });
}

absl::StatusOr<v1::EmbedTextsResponse> SemrankClient::EmbedInPieces(
    const v1::EmbedTextsRequest& request, const PieceLimits& limits,
    absl::Time deadline) {
  v1::EmbedTextsResponse whole;
  SEMRANK_RETURN_IF_ERROR(SendPieces(
      request.texts_size(), request.model(),
      connection_.options().retry.max_attempts, [&] { whole.Clear(); },
      [&](std::int64_t begin,
          const v1::ModelRef& model) -> absl::StatusOr<PieceAnswer> {
        const v1::EmbedTextsRequest piece =
            EmbedPiece(request, static_cast<int>(begin), model, limits);
        const auto response = EmbedAtOnce(piece, deadline);
        if (!response.ok()) return InPieceFrom(begin, response.status());
        AddEmbedPiece(*response, whole);
        return PieceAnswer{piece.texts_size(), response->model()};
      }));
  return whole;
}

}  // namespace semrank
