// The calls of SemrankClient that take any number of texts.
#include <cstdint>
#include <functional>

#include "absl/strings/str_format.h"
#include "client/client_status.h"
#include "client/request_pieces.h"
#include "client/semrank_client.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

// A request within these is sent before the server's limits are known.
constexpr std::int64_t kUsualTexts = 1'000;
constexpr std::size_t kUsualBytes = std::size_t{1} << 20;

// So that "titles[17]" in an error can be found in the request.
absl::Status InPieceFrom(std::int64_t begin, const absl::Status& status) {
  if (begin == 0) return status;
  return WithNote(status, absl::StrFormat("counted from number %d", begin));
}

}  // namespace

absl::StatusOr<PieceLimits> SemrankClient::AskForLimits(absl::Time deadline) {
  SEMRANK_ASSIGN_OR_RETURN(
      const v1::GetLimitsResponse response,
      connection_.Call(*model_, &v1::ModelService::Stub::GetLimits,
                       v1::GetLimitsRequest(), deadline));
  const PieceLimits limits = ToPieceLimits(response.limits());
  const MutexLock lock(mutex_);
  limits_ = limits;
  return limits;
}

absl::StatusOr<PieceLimits> SemrankClient::KnownLimits(absl::Time deadline) {
  {
    const MutexLock lock(mutex_);
    if (limits_.has_value()) return *limits_;
  }
  return AskForLimits(deadline);
}

template <typename AtOnce, typename InPieces>
auto SemrankClient::WithinLimits(bool usual_size, absl::Time deadline,
                                 AtOnce at_once, InPieces in_pieces)
    -> decltype(at_once()) {
  if (usual_size) {
    auto response = at_once();
    if (!HasReason(response.status(), "TOO_MANY_TEXTS")) return response;
    SEMRANK_RETURN_IF_ERROR(AskForLimits(deadline).status());
  }
  SEMRANK_ASSIGN_OR_RETURN(const PieceLimits limits, KnownLimits(deadline));
  auto response = in_pieces(limits);
  // A server that was restarted may have other limits.
  if (!HasReason(response.status(), "TOO_MANY_TEXTS")) return response;
  SEMRANK_ASSIGN_OR_RETURN(const PieceLimits fresh, AskForLimits(deadline));
  return in_pieces(fresh);
}

absl::StatusOr<v1::RankResponse> SemrankClient::Rank(
    const v1::RankRequest& request) {
  const absl::Time deadline = connection_.DeadlineFor();
  // Vectors count by their bytes: their dimension is not known here.
  const bool usual_size = NumCandidates(request, 0) <= kUsualTexts &&
                          request.ByteSizeLong() <= kUsualBytes;
  return WithinLimits(
      usual_size, deadline, [&] { return RankAtOnce(request, deadline); },
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
  const bool usual_size = request.texts_size() <= kUsualTexts &&
                          request.ByteSizeLong() <= kUsualBytes;
  return WithinLimits(
      usual_size, deadline, [&] { return EmbedAtOnce(request, deadline); },
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
