#include <grpcpp/client_context.h>
#include <grpcpp/support/sync_stream.h>

#include <cstdint>

#include "absl/strings/str_format.h"
#include "client/lib/response_check.h"
#include "client/lib/retry.h"
#include "client/lib/semrank_client.h"
#include "model/base/status_macros.h"

// One thread writes the texts and another reads their vectors, so that many
// messages are on their way at once. The server answers in order. After a
// broken stream the next one begins with the first text without a vector, and
// names the version of the model that answered before: the vectors of two
// models cannot be compared.
namespace semrank {
namespace {

using EmbedStream = grpc::ClientReaderWriter<v1::EmbedTextsStreamRequest,
                                             v1::EmbedTextsStreamResponse>;
// Writes the texts from number `begin` on, for a stream of version `model`.
// Stops when the stream breaks; Finish has the reason.
void WriteTexts(const v1::EmbedTextsRequest& request, std::int64_t begin,
                const v1::ModelRef& model, const MessageLimits& limits,
                EmbedStream& stream) {
  while (begin < request.texts_size()) {
    const auto message = MakeChunk(begin, request.texts_size(), limits,
                                   [&](std::int64_t first, std::int64_t end) {
                                     v1::EmbedTextsStreamRequest made;
                                     made.set_side(request.side());
                                     made.set_encoding(request.encoding());
                                     // After a reload, a new stream without a
                                     // version would mix two models.
                                     *made.mutable_model() = model;
                                     AddItems(request.texts(), first, end,
                                              *made.mutable_texts());
                                     return made;
                                   });
    if (!stream.Write(message)) return;
    begin += message.texts_size();
  }
  stream.WritesDone();
}

}  // namespace

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
  SEMRANK_ASSIGN_OR_RETURN(MessageLimits limits, limits_.Get(deadline));
  Retry retry(connection_.options().retry, deadline);
  std::int64_t num_embedded = 0;  // over all streams
  while (true) {
    // The writer thread reads these copies while the reader updates both.
    const std::int64_t begin = num_embedded;
    const v1::ModelRef model = answering;
    const auto read = [&](EmbedStream& stream) {
      v1::EmbedTextsStreamResponse chunk;
      while (stream.Read(&chunk)) {
        // The server counts from 0 in each stream.
        chunk.set_first_text(begin + chunk.first_text());
        SEMRANK_RETURN_IF_ERROR(
            CheckEmbedTextsChunk(request, num_embedded, chunk));
        const std::uint32_t num_texts = chunk.num_texts();
        if (chunk.has_model()) answering = chunk.model();
        SEMRANK_RETURN_IF_ERROR(take(chunk));
        // After `take`, so a text counts once the caller has its vector.
        num_embedded += num_texts;
        if (num_texts > 0) retry.Restart();
      }
      return absl::OkStatus();
    };
    const StreamEnd end = connection_.RunStream(
        *embedding_, &v1::EmbeddingService::Stub::EmbedTextsStream, deadline,
        retry,
        [&](EmbedStream& stream) {
          WriteTexts(request, begin, model, StreamLimits(limits), stream);
        },
        read);
    SEMRANK_RETURN_IF_ERROR(end.read);
    if (end.server.ok()) {
      return num_embedded == request.texts_size()
                 ? absl::OkStatus()
                 : InvalidResponse(
                       absl::StrFormat("the stream ended after %d of %d texts",
                                       num_embedded, request.texts_size()));
    }
    if (!end.retry && !limits_.Renew(end.server, deadline, limits)) {
      return end.server;
    }
  }
}

}  // namespace semrank
