#include "client/lib/catalog_client.h"

#include <grpcpp/support/sync_stream.h>

#include <deque>

#include "absl/strings/str_format.h"
#include "model/base/mutex.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

// Put writes chunks of documents in one thread and reads their responses in
// another. The server answers chunks in order, so the numbers of documents in
// the chunks without a response are all that is needed to know how far it came.
// After a broken stream the next one begins with the first document without a
// response: putting a document twice does no harm.

using PutStream = grpc::ClientReaderWriter<v1::PutDocumentsStreamRequest,
                                           v1::PutDocumentsStreamResponse>;

// Tag and length around each document on the wire.
constexpr std::int64_t kDocumentOverheadBytes = 8;

absl::Status InvalidResponse(std::string_view what) {
  return absl::InternalError(
      absl::StrFormat("invalid response from the server: %s", what));
}

// Numbers of documents in the chunks that have no response yet, oldest first.
// The writing thread adds, the reading thread removes.
class PendingChunks {
 public:
  void Push(std::int64_t num_documents) {
    const MutexLock lock(mutex_);
    chunks_.push_back(num_documents);
  }
  // 0 = no chunk is pending.
  std::int64_t Pop() {
    const MutexLock lock(mutex_);
    if (chunks_.empty()) return 0;
    const std::int64_t num_documents = chunks_.front();
    chunks_.pop_front();
    return num_documents;
  }

 private:
  Mutex mutex_;
  std::deque<std::int64_t> chunks_ ABSL_GUARDED_BY(mutex_);
};

// As many documents from `first` on as the limits allow, at least one.
v1::PutDocumentsStreamRequest MakeChunk(std::int64_t first,
                                        std::int64_t num_documents,
                                        const CatalogClient::MakeDocument& make,
                                        const MessageLimits& limits) {
  v1::PutDocumentsStreamRequest chunk;
  std::int64_t num_bytes = 0;
  for (std::int64_t i = first;
       i < num_documents && chunk.documents_size() < limits.max_texts; ++i) {
    v1::Document& document = *chunk.add_documents();
    make(i, document);
    num_bytes += static_cast<std::int64_t>(document.ByteSizeLong()) +
                 kDocumentOverheadBytes;
    if (num_bytes > limits.max_bytes && chunk.documents_size() > 1) {
      // `make` fills in this document again for the next chunk, which costs
      // less than to compute sizes in advance.
      chunk.mutable_documents()->RemoveLast();
      break;
    }
  }
  return chunk;
}

// The request with up to max_texts of its keys from number `begin` on.
template <typename Request>
Request KeysChunk(const Request& request, int begin,
                  const MessageLimits& limits) {
  Request chunk = request;
  chunk.clear_ids();
  chunk.clear_document_ids();
  const int num_ids = request.ids_size();
  const int num_keys = num_ids + request.document_ids_size();
  std::int64_t num_bytes = 0;
  // Keys are numbered through: first the ids, then the names.
  for (int i = begin; i < num_keys && i - begin < limits.max_texts; ++i) {
    if (i < num_ids) {
      chunk.add_ids(request.ids(i));
      continue;
    }
    const std::string& id = request.document_ids(i - num_ids);
    num_bytes += static_cast<std::int64_t>(id.size()) + kDocumentOverheadBytes;
    if (num_bytes > limits.max_bytes && i > begin) break;
    chunk.add_document_ids(id);
  }
  return chunk;
}

void Add(const v1::GetDocumentsResponse& chunk,
         v1::GetDocumentsResponse& whole) {
  // MergeFrom would replace the vectors.
  whole.mutable_vectors()->append(chunk.vectors());
  v1::GetDocumentsResponse others = chunk;
  others.clear_vectors();
  whole.MergeFrom(others);
}

void Add(const v1::DeleteDocumentsResponse& chunk,
         v1::DeleteDocumentsResponse& whole) {
  whole.set_num_deleted(whole.num_deleted() + chunk.num_deleted());
  whole.mutable_problems()->MergeFrom(chunk.problems());
}

// A response must account for every document of its chunk.
absl::Status CheckResponse(const v1::PutDocumentsStreamResponse& response,
                           std::int64_t num_documents) {
  if (num_documents == 0 || std::int64_t{response.num_created()} +
                                    response.num_replaced() +
                                    response.problems_size() !=
                                num_documents) {
    return InvalidResponse("it does not account for the documents sent");
  }
  for (const v1::Problem& problem : response.problems()) {
    if (problem.index() >= num_documents) {
      return InvalidResponse("no such document");
    }
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
    return InvalidResponse("more hits than asked for");
  }
  return response;
}

template <typename Request, typename Response>
absl::StatusOr<Response> CatalogClient::SendKeys(
    grpc::Status (v1::CatalogService::Stub::*method)(grpc::ClientContext*,
                                                     const Request&, Response*),
    const Request& request) {
  // One deadline for all chunks.
  const absl::Time deadline = connection_.DeadlineFor();
  SEMRANK_ASSIGN_OR_RETURN(MessageLimits limits, limits_.Get(deadline));
  Response whole;
  int begin = 0;
  do {
    const Request chunk = KeysChunk(request, begin, StreamLimits(limits));
    absl::StatusOr<Response> response =
        connection_.Call(*catalog_, method, chunk, deadline);
    if (!response.ok()) {
      if (!limits_.Renew(response.status(), deadline, limits)) {
        return response.status();
      }
      // The same keys once more, within the new limits.
      continue;
    }
    // The server numbers the keys of a chunk from 0.
    for (v1::Problem& problem : *response->mutable_problems()) {
      problem.set_index(problem.index() + begin);
    }
    Add(*response, whole);
    begin += chunk.ids_size() + chunk.document_ids_size();
  } while (begin < request.ids_size() + request.document_ids_size());
  return whole;
}

absl::StatusOr<v1::GetDocumentsResponse> CatalogClient::Get(
    const v1::GetDocumentsRequest& request) {
  SEMRANK_ASSIGN_OR_RETURN(
      v1::GetDocumentsResponse response,
      SendKeys(&v1::CatalogService::Stub::GetDocuments, request));
  if (response.documents_size() + response.problems_size() !=
      request.ids_size() + request.document_ids_size()) {
    return InvalidResponse("it does not account for the keys sent");
  }
  return response;
}

absl::StatusOr<v1::DeleteDocumentsResponse> CatalogClient::Delete(
    const v1::DeleteDocumentsRequest& request) {
  return SendKeys(&v1::CatalogService::Stub::DeleteDocuments, request);
}

absl::Status CatalogClient::Put(std::int64_t num_documents,
                                const MakeDocument& make,
                                const TakeResponse& take) {
  // More documents have more time: one deadline of the options for each
  // thousand.
  const absl::Time deadline = connection_.DeadlineFor(
      1 + static_cast<int>(num_documents / kMaxStreamedTexts));
  SEMRANK_ASSIGN_OR_RETURN(MessageLimits limits, limits_.Fetch(deadline));
  Retry retry(connection_.options().retry, deadline);
  std::int64_t num_put = 0;
  while (true) {
    // Of this stream; a broken one takes its pending chunks with it.
    PendingChunks pending;
    const auto write = [&, next = num_put](PutStream& stream) mutable {
      while (next < num_documents) {
        const auto chunk =
            MakeChunk(next, num_documents, make, StreamLimits(limits));
        next += chunk.documents_size();
        // Before the write, since the response may come before Write returns.
        pending.Push(chunk.documents_size());
        if (!stream.Write(chunk)) return;  // Finish has the reason
      }
      stream.WritesDone();
    };
    const auto read = [&](PutStream& stream) {
      v1::PutDocumentsStreamResponse response;
      while (stream.Read(&response)) {
        const std::int64_t num_in_chunk = pending.Pop();
        SEMRANK_RETURN_IF_ERROR(CheckResponse(response, num_in_chunk));
        // The server counts from 0 in each stream.
        response.set_first_document(num_put);
        num_put += num_in_chunk;
        // Progress: attempts are counted anew, or a long put would run out of
        // them.
        retry.Restart();
        SEMRANK_RETURN_IF_ERROR(take(response));
      }
      return absl::OkStatus();
    };
    const StreamEnd end = connection_.RunStream(
        deadline, retry,
        [&](grpc::ClientContext* context) {
          return catalog_->PutDocumentsStream(context);
        },
        write, read);
    SEMRANK_RETURN_IF_ERROR(end.read);
    if (end.server.ok()) {
      return num_put == num_documents
                 ? absl::OkStatus()
                 : InvalidResponse("the stream ended too early");
    }
    if (!end.retry && !limits_.Renew(end.server, deadline, limits)) {
      return end.server;
    }
  }
}

}  // namespace semrank
