#include <grpcpp/client_context.h>
#include <grpcpp/support/sync_stream.h>

#include <algorithm>
#include <thread>

#include "absl/strings/str_format.h"
#include "client/lib/response_check.h"
#include "client/lib/semrank_client.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

using EmbedStream = grpc::ClientReaderWriter<v1::EmbedTextsStreamRequest,
                                             v1::EmbedTextsStreamResponse>;
using TakePiece =
    std::function<absl::Status(const v1::EmbedTextsStreamResponse&)>;

// How far the texts have been answered, over all streams.
struct Progress {
  std::uint64_t num_answered = 0;
  // Who answers; as in the request until the first answer.
  v1::ModelRef model = {};
};

// Writes what is not answered yet. Stops early when the stream is over; its
// status says why.
void WriteTexts(const v1::EmbedTextsRequest& request, Progress progress,
                const PieceLimits& limits, EmbedStream& stream) {
  for (int i = static_cast<int>(progress.num_answered);
       i < request.texts_size();) {
    v1::EmbedTextsRequest piece = EmbedPiece(request, i, {}, limits);
    i += piece.texts_size();
    v1::EmbedTextsStreamRequest message;
    message.mutable_texts()->Swap(piece.mutable_texts());
    message.set_side(request.side());
    message.set_encoding(request.encoding());
    *message.mutable_model() = progress.model;
    if (!stream.Write(message)) return;
  }
  stream.WritesDone();
}

// The caller's own error, or one of an answer that is wrong.
absl::Status TakeAnswers(const v1::EmbedTextsRequest& request,
                         const TakePiece& take, EmbedStream& stream,
                         Progress& progress) {
  const std::uint64_t first = progress.num_answered;
  v1::EmbedTextsStreamResponse piece;
  while (stream.Read(&piece)) {
    // A stream that was taken up again counts from 0 once more.
    piece.set_first_text(first + piece.first_text());
    SEMRANK_RETURN_IF_ERROR(
        CheckEmbedTextsPiece(request, progress.num_answered, piece));
    if (piece.has_model()) progress.model = piece.model();
    SEMRANK_RETURN_IF_ERROR(take(piece));
    progress.num_answered += piece.num_texts();
  }
  return absl::OkStatus();
}

absl::Status CheckComplete(const v1::EmbedTextsRequest& request,
                           const Progress& progress) {
  if (progress.num_answered ==
      static_cast<std::uint64_t>(request.texts_size())) {
    return absl::OkStatus();
  }
  return absl::InternalError(absl::StrFormat(
      "the server's answer is wrong: the stream ended after %d of %d texts",
      progress.num_answered, request.texts_size()));
}

}  // namespace

absl::Status SemrankClient::EmbedTextsStream(
    const v1::EmbedTextsRequest& request, const TakePiece& take) {
  const absl::Time deadline = connection_.DeadlineFor(
      1 + request.texts_size() / static_cast<int>(kMaxStreamedTexts));
  SEMRANK_ASSIGN_OR_RETURN(PieceLimits limits, limits_.Get(deadline));
  Retry retry(connection_.options().retry, deadline);
  Progress progress{.model = request.model()};
  while (true) {
    const Progress before = progress;
    grpc::ClientContext context;
    connection_.Prepare(deadline, context);
    const auto stream = embedding_->EmbedTextsStream(&context);
    // Answers are read meanwhile: the server takes no more while they wait.
    std::thread writer(
        [&] { WriteTexts(request, before, StreamLimits(limits), *stream); });
    const absl::Status status = TakeAnswers(request, take, *stream, progress);
    if (!status.ok()) context.TryCancel();
    writer.join();
    const grpc::Status finished = stream->Finish();
    SEMRANK_RETURN_IF_ERROR(status);
    if (finished.ok()) return CheckComplete(request, progress);
    if (progress.num_answered > before.num_answered) retry.Restart();
    if (connection_.WaitToRepeat(finished, context, retry)) continue;
    const absl::Status failure =
        connection_.Describe(finished, retry.num_attempts());
    if (!limits_.Renew(failure, deadline, limits)) return failure;
  }
}

}  // namespace semrank
