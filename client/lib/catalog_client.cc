#include "client/lib/catalog_client.h"

#include <grpcpp/support/sync_stream.h>

#include <deque>
#include <thread>

#include "absl/strings/str_format.h"
#include "model/base/mutex.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

using PutStream = grpc::ClientReaderWriter<v1::PutDocumentsStreamRequest,
                                           v1::PutDocumentsStreamResponse>;

// Of a document on the wire, beside its fields.
constexpr std::int64_t kDocumentOverheadBytes = 8;

absl::Status WrongAnswer(std::string_view what) {
  return absl::InternalError(
      absl::StrFormat("the server's answer is wrong: %s", what));
}

// The sizes of pieces that are on their way, first in, first out.
class PieceSizes {
 public:
  void Push(std::int64_t size) {
    const MutexLock lock(mutex_);
    sizes_.push_back(size);
  }
  // 0 = there is none.
  std::int64_t Pop() {
    const MutexLock lock(mutex_);
    if (sizes_.empty()) return 0;
    const std::int64_t size = sizes_.front();
    sizes_.pop_front();
    return size;
  }

 private:
  Mutex mutex_;
  std::deque<std::int64_t> sizes_ ABSL_GUARDED_BY(mutex_);
};

// Documents from `first` on, as many as fit, at least one.
v1::PutDocumentsStreamRequest MakePiece(std::int64_t first,
                                        std::int64_t num_documents,
                                        const CatalogClient::MakeDocument& make,
                                        const PieceLimits& limits) {
  v1::PutDocumentsStreamRequest piece;
  std::int64_t num_bytes = 0;
  for (std::int64_t i = first;
       i < num_documents && piece.documents_size() < limits.max_texts; ++i) {
    v1::Document& document = *piece.add_documents();
    make(i, document);
    num_bytes += static_cast<std::int64_t>(document.ByteSizeLong()) +
                 kDocumentOverheadBytes;
    if (num_bytes > limits.max_bytes && piece.documents_size() > 1) {
      piece.mutable_documents()->RemoveLast();
      break;
    }
  }
  return piece;
}

// Stops early when the stream is over; its status says why.
void WritePieces(std::int64_t first, std::int64_t num_documents,
                 const CatalogClient::MakeDocument& make,
                 const PieceLimits& limits, PieceSizes& sizes,
                 PutStream& stream) {
  while (first < num_documents) {
    const auto piece = MakePiece(first, num_documents, make, limits);
    first += piece.documents_size();
    sizes.Push(piece.documents_size());
    if (!stream.Write(piece)) return;
  }
  stream.WritesDone();
}

absl::Status TakeAnswers(const CatalogClient::TakeAnswer& take,
                         PieceSizes& sizes, PutStream& stream,
                         std::int64_t& num_answered) {
  v1::PutDocumentsStreamResponse answer;
  while (stream.Read(&answer)) {
    const std::int64_t size = sizes.Pop();
    if (size == 0 || std::int64_t{answer.num_created()} +
                             answer.num_replaced() + answer.problems_size() !=
                         size) {
      return WrongAnswer("it does not account for the documents sent");
    }
    for (const v1::Problem& problem : answer.problems()) {
      if (problem.index() >= size) return WrongAnswer("no such document");
    }
    // A stream that was taken up again counts from 0 once more.
    answer.set_first_document(num_answered);
    num_answered += size;
    SEMRANK_RETURN_IF_ERROR(take(answer));
  }
  return absl::OkStatus();
}

}  // namespace

CatalogClient::CatalogClient(const ClientOptions& options)
    : connection_(options),
      catalog_(v1::CatalogService::NewStub(connection_.channel())),
      limits_(&connection_) {}

absl::StatusOr<std::unique_ptr<CatalogClient>> CatalogClient::Create(
    const ClientOptions& options) {
  SEMRANK_RETURN_IF_ERROR(CheckOptions(options));
  return std::unique_ptr<CatalogClient>(new CatalogClient(options));
}

absl::StatusOr<v1::SearchDocumentsResponse> CatalogClient::Search(
    const v1::SearchDocumentsRequest& request) {
  SEMRANK_ASSIGN_OR_RETURN(
      v1::SearchDocumentsResponse response,
      connection_.Call(*catalog_, &v1::CatalogService::Stub::SearchDocuments,
                       request, connection_.DeadlineFor()));
  if (request.top_k() > 0 &&
      static_cast<std::uint32_t>(response.hits_size()) > request.top_k()) {
    return WrongAnswer("more hits than asked for");
  }
  return response;
}

absl::Status CatalogClient::Put(std::int64_t num_documents,
                                const MakeDocument& make,
                                const TakeAnswer& take) {
  const absl::Time deadline = connection_.DeadlineFor(
      1 + static_cast<int>(num_documents / kMaxStreamedTexts));
  SEMRANK_ASSIGN_OR_RETURN(PieceLimits limits, limits_.Ask(deadline));
  Retry retry(connection_.options().retry, deadline);
  std::int64_t num_answered = 0;
  while (true) {
    const std::int64_t first = num_answered;
    grpc::ClientContext context;
    connection_.Prepare(deadline, context);
    const auto stream = catalog_->PutDocumentsStream(&context);
    PieceSizes sizes;
    // Answers are read meanwhile: the server takes no more while they wait.
    std::thread writer([&] {
      WritePieces(first, num_documents, make, StreamLimits(limits), sizes,
                  *stream);
    });
    const absl::Status status = TakeAnswers(take, sizes, *stream, num_answered);
    if (!status.ok()) context.TryCancel();
    writer.join();
    const grpc::Status finished = stream->Finish();
    SEMRANK_RETURN_IF_ERROR(status);
    if (finished.ok()) {
      return num_answered == num_documents
                 ? absl::OkStatus()
                 : WrongAnswer("the stream ended before its time");
    }
    if (num_answered > first) retry.Restart();
    if (connection_.WaitToRepeat(finished, context, retry)) continue;
    const absl::Status failure =
        connection_.Describe(finished, retry.num_attempts());
    if (!limits_.Renew(failure, deadline, limits)) return failure;
  }
}

}  // namespace semrank
