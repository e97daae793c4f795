#include <grpcpp/client_context.h>
#include <grpcpp/support/sync_stream.h>

#include <cstdint>

#include "absl/strings/str_format.h"
#include "client/lib/response_check.h"
#include "client/lib/semrank_client.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

using EmbedStream = grpc::ClientReaderWriter<v1::EmbedTextsStreamRequest,
                                             v1::EmbedTextsStreamResponse>;
// How many texts have their vectors, over all attempts.
struct Progress {
  std::uint64_t num_embedded = 0;
  // The version that answers; as in the request until the first response.
  v1::ModelRef model = {};
};

// Writes the remaining texts. Stops when the stream breaks; Finish has the
// reason.
void WriteTexts(const v1::EmbedTextsRequest& request, const Progress& progress,
                const MessageLimits& limits, EmbedStream& stream) {
  for (int i = static_cast<int>(progress.num_embedded);
       i < request.texts_size();) {
    v1::EmbedTextsRequest chunk = EmbedChunk(request, i, {}, limits);
    i += chunk.texts_size();
    v1::EmbedTextsStreamRequest message;
    message.mutable_texts()->Swap(chunk.mutable_texts());
    message.set_side(request.side());
    message.set_encoding(request.encoding());
    // After a reload, a new stream without a version would mix two models.
    *message.mutable_model() = progress.model;
    if (!stream.Write(message)) return;
  }
  stream.WritesDone();
}

absl::Status CheckComplete(const v1::EmbedTextsRequest& request,
                           const Progress& progress) {
  if (progress.num_embedded ==
      static_cast<std::uint64_t>(request.texts_size())) {
    return absl::OkStatus();
  }
  return absl::InternalError(
      absl::StrFormat("invalid response from the server: the stream ended "
                      "after %d of %d texts",
                      progress.num_embedded, request.texts_size()));
}

}  // namespace

absl::Status SemrankClient::EmbedTextsStream(
    const v1::EmbedTextsRequest& request, const TakeEmbeddings& take) {
  const absl::Time deadline = connection_.DeadlineFor(
      1 + request.texts_size() / static_cast<int>(kMaxStreamedTexts));
  SEMRANK_ASSIGN_OR_RETURN(MessageLimits limits, limits_.Get(deadline));
  Retry retry(connection_.options().retry, deadline);
  Progress progress{.model = request.model()};
  while (true) {
    // The writer thread reads this copy while the reader updates `progress`.
    const Progress before = progress;
    const auto read = [&](EmbedStream& stream) {
      v1::EmbedTextsStreamResponse chunk;
      while (stream.Read(&chunk)) {
        // The server counts from 0 in each stream.
        chunk.set_first_text(before.num_embedded + chunk.first_text());
        SEMRANK_RETURN_IF_ERROR(
            CheckEmbedTextsChunk(request, progress.num_embedded, chunk));
        if (chunk.has_model()) progress.model = chunk.model();
        SEMRANK_RETURN_IF_ERROR(take(chunk));
        // After `take`, so a text counts once the caller has its vector.
        progress.num_embedded += chunk.num_texts();
        if (chunk.num_texts() > 0) retry.Restart();
      }
      return absl::OkStatus();
    };
    const StreamEnd end = connection_.RunStream(
        deadline, retry,
        [&](grpc::ClientContext* context) {
          return embedding_->EmbedTextsStream(context);
        },
        [&](EmbedStream& stream) {
          WriteTexts(request, before, StreamLimits(limits), stream);
        },
        read);
    SEMRANK_RETURN_IF_ERROR(end.read);
    if (end.server.ok()) return CheckComplete(request, progress);
    if (!end.retry && !limits_.Renew(end.server, deadline, limits)) {
      return end.server;
    }
  }
}

}  // namespace semrank
