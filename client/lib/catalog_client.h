// A client of the server's catalog of documents, which are known by id.
//
//   Channel, deadline, retries, errors and threads are those of
//   semrank_client.h. Repeating a put is safe: a known id is replaced.
#ifndef SEMRANK_CLIENT_LIB_CATALOG_CLIENT_H_
#define SEMRANK_CLIENT_LIB_CATALOG_CLIENT_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/lib/client_options.h"
#include "client/lib/connection.h"
#include "client/lib/server_limits.h"
#include "semrank/v1/catalog_service.grpc.pb.h"

namespace semrank {

class CatalogClient {
 public:
  // Sets the fields of document number i.
  using MakeDocument = std::function<void(std::int64_t i, v1::Document&)>;
  using TakeResponse =
      std::function<absl::Status(const v1::PutDocumentsStreamResponse&)>;

  // InvalidArgument for bad options. Does not connect yet.
  static absl::StatusOr<std::unique_ptr<CatalogClient>> Create(
      const ClientOptions& options);

  // Returns the hits, best first. The response is checked: at most as many hits
  // as requested.
  absl::StatusOr<v1::SearchDocumentsResponse> Search(
      const v1::SearchDocumentsRequest& request);

  // Accept any number of keys; more than fit in a message are sent in several,
  // one after another. Problems are numbered as in the whole request. The
  // response to Get is checked: every key has its document or a problem, and
  // every document its vector if requested. All vectors are of one version.
  absl::StatusOr<v1::GetDocumentsResponse> Get(
      const v1::GetDocumentsRequest& request);
  absl::StatusOr<v1::DeleteDocumentsResponse> Delete(
      const v1::DeleteDocumentsRequest& request);

  // Puts documents 0 to num_documents - 1 over one stream, in messages of at
  // most 1,000 documents and 1 MiB. `make` is called in another thread, and
  // again for a document that is sent again or does not fit the message. `take`
  // is called in this thread with the checked responses in order;
  // first_document counts through all of them. An error of `take` ends the
  // call; the server keeps what it has. After a broken stream, a new one
  // continues with the first document without a response.
  absl::Status Put(std::int64_t num_documents, const MakeDocument& make,
                   const TakeResponse& take);

 private:
  explicit CatalogClient(const ClientOptions& options);

  // Sends the keys of `request` in chunks. on_chunk(response, common) may
  // change `common`, the fields that all later chunks repeat.
  template <typename Request, typename Response, typename OnChunk>
  absl::StatusOr<Response> SendKeys(
      grpc::Status (v1::CatalogService::Stub::*method)(grpc::ClientContext*,
                                                       const Request&,
                                                       Response*),
      const Request& request, absl::Time deadline, OnChunk on_chunk);

  Connection connection_;
  const std::unique_ptr<v1::CatalogService::Stub> catalog_;
  ServerLimits limits_;
};

}  // namespace semrank

#endif  // SEMRANK_CLIENT_LIB_CATALOG_CLIENT_H_
