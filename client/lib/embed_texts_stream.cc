#include <cstdint>

#include "client/lib/ordered_stream.h"
#include "client/lib/response_check.h"
#include "client/lib/semrank_client.h"
#include "model/base/status_macros.h"

// After a broken stream the next one names the version of the model that
// answered before: the vectors of two models cannot be compared.
namespace semrank {

absl::Status SemrankClient::EmbedTextsStream(
    const v1::EmbedTextsRequest& request, const TakeEmbeddings& take) {
  const absl::Time deadline = connection_.DeadlineFor(
      1 + request.texts_size() / static_cast<int>(kAssumedLimits.max_texts));
  v1::ModelRef answering = request.model();
  return StreamTexts(request, deadline, answering, take);
}

absl::Status SemrankClient::StreamTexts(const v1::EmbedTextsRequest& request,
                                        absl::Time deadline,
                                        v1::ModelRef& answering,
                                        const TakeEmbeddings& take) {
  SEMRANK_ASSIGN_OR_RETURN(const MessageLimits limits, limits_.Get(deadline));
  const auto start = [&] {
    // A copy for the writer, since the reader changes `answering`. After a
    // reload, a new stream without a version would mix two models.
    return [&request, model = answering](std::int64_t first, std::int64_t end) {
      v1::EmbedTextsStreamRequest made;
      made.set_side(request.side());
      made.set_encoding(request.encoding());
      *made.mutable_model() = model;
      AddItems(request.texts(), first, end, *made.mutable_texts());
      return made;
    };
  };
  return RunOrderedStream(
      {.connection = connection_,
       .server_limits = limits_,
       .deadline = deadline,
       .limits = limits,
       .num_items = request.texts_size(),
       .items = "texts"},
      *embedding_, &v1::EmbeddingService::Stub::EmbedTextsStream, start,
      [&](std::int64_t begin, std::int64_t num_done,
          v1::EmbedTextsStreamResponse& chunk) -> absl::StatusOr<std::int64_t> {
        // The server counts from 0 in each stream.
        chunk.set_first_text(begin + chunk.first_text());
        SEMRANK_RETURN_IF_ERROR(CheckEmbedTextsChunk(request, num_done, chunk));
        const std::uint32_t num_texts = chunk.num_texts();
        if (chunk.has_model()) answering = chunk.model();
        SEMRANK_RETURN_IF_ERROR(take(chunk));
        return num_texts;
      });
}

}  // namespace semrank
