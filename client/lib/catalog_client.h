// Calls a server's catalog of documents known by id.
//
//   Everything that semrank_client.h says of channel, time, retries and errors
//   holds here too. A put may be repeated safely: a known key is replaced.
//   Threads  every method, from any thread; a call blocks its thread.
#ifndef SEMRANK_CLIENT_LIB_CATALOG_CLIENT_H_
#define SEMRANK_CLIENT_LIB_CATALOG_CLIENT_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "client/lib/client_options.h"
#include "client/lib/connection.h"
#include "client/lib/server_limits.h"
#include "semrank/v1/catalog_service.grpc.pb.h"

namespace semrank {

class CatalogClient {
 public:
  // Makes document i of those to put.
  using MakeDocument = std::function<void(std::int64_t i, v1::Document&)>;
  using TakeAnswer =
      std::function<absl::Status(const v1::PutDocumentsStreamResponse&)>;

  // InvalidArgument for bad options. Does not connect yet.
  static absl::StatusOr<std::unique_ptr<CatalogClient>> Create(
      const ClientOptions& options);

  // Best first, and no more hits than asked for, which is checked.
  absl::StatusOr<v1::SearchDocumentsResponse> Search(
      const v1::SearchDocumentsRequest& request);

  // Puts documents 0 to num_documents - 1 over one stream, a thousand or a
  // mebibyte in a message. `make` is called in another thread, for a document
  // perhaps more than once. `take` gets the answers in order, in this thread,
  // first_document counting through; an error of it ends the call. What was
  // taken is kept by the server. A stream that breaks off is taken up again at
  // the first document without an answer.
  absl::Status Put(std::int64_t num_documents, const MakeDocument& make,
                   const TakeAnswer& take);

 private:
  explicit CatalogClient(const ClientOptions& options);

  Connection connection_;
  const std::unique_ptr<v1::CatalogService::Stub> catalog_;
  ServerLimits limits_;
};

}  // namespace semrank

#endif  // SEMRANK_CLIENT_LIB_CATALOG_CLIENT_H_
