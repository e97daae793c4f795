// The vectors that a server answers.
#ifndef SEMRANK_CLIENT_BULK_SERVER_VECTORS_H_
#define SEMRANK_CLIENT_BULK_SERVER_VECTORS_H_

#include "client/bulk/vector_source.h"
#include "client/lib/semrank_client.h"

namespace semrank {

class ServerVectors : public VectorSource {
 public:
  // `client` outlives it.
  explicit ServerVectors(SemrankClient& client) : client_(client) {}

  absl::StatusOr<v1::Model> GetModel(const v1::ModelRef& model) override {
    return client_.GetModel(model);
  }
  absl::Status EmbedTextsStream(const v1::EmbedTextsRequest& request,
                                const Take& take) override {
    return client_.EmbedTextsStream(request, take);
  }

 private:
  SemrankClient& client_;
};

}  // namespace semrank

#endif  // SEMRANK_CLIENT_BULK_SERVER_VECTORS_H_
