// Where the vectors of the embed command come from: a model directory of this
// machine, or a server (server_vectors.h).
//
//   Threads  one thread calls.
#ifndef SEMRANK_CLIENT_BULK_VECTOR_SOURCE_H_
#define SEMRANK_CLIENT_BULK_VECTOR_SOURCE_H_

#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "semrank/v1/embedding_service.pb.h"
#include "semrank/v1/model_service.pb.h"

namespace semrank {

class VectorSource {
 public:
  using Take = std::function<absl::Status(const v1::EmbedTextsStreamResponse&)>;

  virtual ~VectorSource() = default;

  // Version 0 = the current one. NotFound if there is no such model.
  virtual absl::StatusOr<v1::Model> GetModel(const v1::ModelRef& model) = 0;
  // Vectors in float32 for any number of texts; `take` gets them in order, one
  // a text, zeros for the texts in `problems`. An error of it ends the call.
  virtual absl::Status EmbedTextsStream(const v1::EmbedTextsRequest& request,
                                        const Take& take) = 0;
};

}  // namespace semrank

#endif  // SEMRANK_CLIENT_BULK_VECTOR_SOURCE_H_
