#include <grpcpp/client_context.h>
#include <grpcpp/support/sync_stream.h>

#include <algorithm>
#include <thread>

#include "absl/strings/str_format.h"
#include "client/response_check.h"
#include "client/semrank_client.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

using EmbedStream = grpc::ClientReaderWriter<v1::EmbedTextsStreamRequest,
                                             v1::EmbedTextsStreamResponse>;

// Of a message; well under what a server takes with its usual limits.
constexpr int kMaxMessageTexts = 1'000;
constexpr std::size_t kMaxMessageBytes = std::size_t{1} << 20;

// Stops early when the stream is over; its status says why.
void WriteTexts(const v1::EmbedTextsRequest& request, EmbedStream& stream) {
  v1::EmbedTextsStreamRequest message;
  message.set_side(request.side());
  message.set_encoding(request.encoding());
  *message.mutable_model() = request.model();
  for (int i = 0; i < request.texts_size();) {
    std::size_t num_bytes = 0;
    while (i < request.texts_size() && num_bytes < kMaxMessageBytes &&
           message.texts_size() < kMaxMessageTexts) {
      num_bytes += request.texts(i).size();
      message.add_texts(request.texts(i++));
    }
    if (!stream.Write(message)) return;
    message.Clear();
  }
  stream.WritesDone();
}

}  // namespace

absl::Status SemrankClient::EmbedTextsStream(
    const v1::EmbedTextsRequest& request,
    const std::function<absl::Status(const v1::EmbedTextsStreamResponse&)>&
        take) {
  grpc::ClientContext context;
  PrepareContext(1 + request.texts_size() / kMaxMessageTexts, context);
  const auto stream = embedding_->EmbedTextsStream(&context);
  // Answers are read meanwhile: the server takes no more while they wait.
  std::thread writer([&] { WriteTexts(request, *stream); });
  std::uint64_t num_answered = 0;
  absl::Status status;
  v1::EmbedTextsStreamResponse piece;
  while (status.ok() && stream->Read(&piece)) {
    status = CheckEmbedTextsPiece(request, num_answered, piece);
    if (status.ok()) status = take(piece);
    num_answered += piece.num_texts();
  }
  if (!status.ok()) context.TryCancel();
  writer.join();
  const grpc::Status finished = stream->Finish();
  SEMRANK_RETURN_IF_ERROR(status);
  if (!finished.ok()) return DescribeFailure(finished);
  if (num_answered == static_cast<std::uint64_t>(request.texts_size())) {
    return absl::OkStatus();
  }
  return absl::InternalError(absl::StrFormat(
      "the server's answer is wrong: the stream ended after %d of %d texts",
      num_answered, request.texts_size()));
}

}  // namespace semrank
