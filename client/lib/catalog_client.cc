#include "client/lib/catalog_client.h"

#include <cstdint>

#include "client/lib/ordered_stream.h"
#include "client/lib/request_chunks.h"
#include "client/lib/response_check.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

// Put sends documents over a stream. The server answers in order and says which
// documents each response is for, so the number of documents with a response is
// all that is needed to know how far it came. After a broken stream some
// documents are put twice, which does no harm.

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

// How many documents the response is for, or Internal if it does not follow the
// one before: `num_answered` documents of the stream had theirs, `num_left` had
// none.
absl::StatusOr<std::int64_t> NumAnswered(
    const v1::PutDocumentsStreamResponse& response, std::int64_t num_answered,
    std::int64_t num_left) {
  const std::int64_t num_documents = std::int64_t{response.num_created()} +
                                     response.num_replaced() +
                                     response.problems_size();
  if (response.first_document() != static_cast<std::uint64_t>(num_answered) ||
      num_documents == 0 || num_documents > num_left) {
    return InvalidResponse("it does not account for the documents sent");
  }
  for (const v1::Problem& problem : response.problems()) {
    if (problem.index() >= num_documents) {
      return InvalidResponse("no such document");
    }
  }
  return num_documents;
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
  // Callers size their lists by top_k.
  if (request.top_k() > 0 &&
      static_cast<std::uint32_t>(response.hits_size()) > request.top_k()) {
    return InvalidResponse("more hits than asked for");
  }
  return response;
}

template <typename Request, typename Response, typename OnChunk>
absl::StatusOr<Response> CatalogClient::SendKeys(
    grpc::Status (v1::CatalogService::Stub::*method)(grpc::ClientContext*,
                                                     const Request&, Response*),
    const Request& request, absl::Time deadline, OnChunk on_chunk) {
  // All chunks share one deadline. Key i is ids[i], or, after the last id,
  // document_ids[i - ids_size], as in the response. AddItems adds the keys of
  // one chunk from both lists.
  SEMRANK_ASSIGN_OR_RETURN(MessageLimits limits, limits_.Get(deadline));
  Request common = request;
  common.clear_ids();
  common.clear_document_ids();
  const int num_keys = request.ids_size() + request.document_ids_size();
  Response whole;
  // The loop runs at least once: the server answers a request without keys,
  // too, and checks the other fields.
  int begin = 0;
  do {
    const Request chunk =
        MakeChunk(begin, num_keys, StreamLimits(limits),
                  [&](std::int64_t first, std::int64_t end) {
                    Request made = common;
                    AddItems(request.ids(), first, end, *made.mutable_ids());
                    AddItems(request.document_ids(), first, end,
                             *made.mutable_document_ids());
                    return made;
                  });
    absl::StatusOr<Response> response =
        connection_.Call(*catalog_, method, chunk, deadline);
    if (!response.ok()) {
      if (!limits_.Renew(response.status(), deadline, limits)) {
        return response.status();
      }
      // The same keys once more, within the new limits.
      continue;
    }
    const int num_chunk_keys = chunk.ids_size() + chunk.document_ids_size();
    SEMRANK_RETURN_IF_ERROR(
        CheckKeyProblems(response->problems(), num_chunk_keys));
    // The server numbers the keys of a chunk from 0.
    for (v1::Problem& problem : *response->mutable_problems()) {
      problem.set_index(problem.index() + begin);
    }
    Add(*response, whole);
    on_chunk(*response, common);
    begin += num_chunk_keys;
  } while (begin < num_keys);
  return whole;
}

absl::StatusOr<v1::GetDocumentsResponse> CatalogClient::Get(
    const v1::GetDocumentsRequest& request) {
  const absl::Time deadline = connection_.DeadlineFor();
  v1::GetDocumentsResponse whole;
  // Vectors of two versions cannot be compared, and a reload may come between
  // two chunks. A response without vectors names no model.
  const auto send = [&](v1::ModelRef& answering) -> absl::Status {
    SEMRANK_ASSIGN_OR_RETURN(
        whole, SendKeys(&v1::CatalogService::Stub::GetDocuments, request,
                        deadline, [&](const auto& response, auto& common) {
                          if (!response.has_model()) return;
                          answering = response.model();
                          *common.mutable_model() = answering;
                        }));
    return absl::OkStatus();
  };
  SEMRANK_RETURN_IF_ERROR(SendToOneVersion(
      request.model(), connection_.options().retry.max_attempts, send));
  SEMRANK_RETURN_IF_ERROR(CheckGetDocumentsResponse(request, whole));
  return whole;
}

absl::StatusOr<v1::DeleteDocumentsResponse> CatalogClient::Delete(
    const v1::DeleteDocumentsRequest& request) {
  return SendKeys(&v1::CatalogService::Stub::DeleteDocuments, request,
                  connection_.DeadlineFor(), [](const auto&, auto&) {});
}

absl::Status CatalogClient::Put(std::int64_t num_documents,
                                const MakeDocument& make,
                                const TakeResponse& take) {
  // More documents have more time: one deadline of the options for each
  // thousand.
  const absl::Time deadline = connection_.DeadlineFor(
      1 + static_cast<int>(num_documents / kAssumedLimits.max_texts));
  SEMRANK_ASSIGN_OR_RETURN(const MessageLimits limits, limits_.Fetch(deadline));
  const auto make_message = [&](std::int64_t first, std::int64_t end) {
    v1::PutDocumentsStreamRequest made;
    for (std::int64_t i = first; i < end; ++i) make(i, *made.add_documents());
    return made;
  };
  return RunOrderedStream(
      {.connection = connection_,
       .server_limits = limits_,
       .deadline = deadline,
       .limits = limits,
       .num_items = num_documents,
       .items = "documents"},
      *catalog_, &v1::CatalogService::Stub::PutDocumentsStream,
      [&] { return make_message; },
      [&](std::int64_t begin, std::int64_t num_put,
          v1::PutDocumentsStreamResponse& response)
          -> absl::StatusOr<std::int64_t> {
        SEMRANK_ASSIGN_OR_RETURN(
            const std::int64_t num_answered,
            NumAnswered(response, num_put - begin, num_documents - num_put));
        // The server counts from 0 in each stream.
        response.set_first_document(num_put);
        SEMRANK_RETURN_IF_ERROR(take(response));
        return num_answered;
      });
}

}  // namespace semrank
