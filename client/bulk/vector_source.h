// Where the embed command gets vectors: from a server, or from a model
// directory on this machine.
//
//   Threads  not thread-safe.
#ifndef SEMRANK_CLIENT_BULK_VECTOR_SOURCE_H_
#define SEMRANK_CLIENT_BULK_VECTOR_SOURCE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/lib/semrank_client.h"
#include "model/text/text_limit.h"

namespace semrank {

class VectorSource {
 public:
  virtual ~VectorSource() = default;

  // Version 0 = the current one. NotFound if there is no such model.
  virtual absl::StatusOr<v1::Model> GetModel(const v1::ModelRef& model) = 0;
  // As SemrankClient::EmbedTextsStream, always in float32.
  virtual absl::Status EmbedTextsStream(
      const v1::EmbedTextsRequest& request,
      const SemrankClient::TakeEmbeddings& take) = 0;
};

// Vectors from a server. `client` must outlive the source.
std::unique_ptr<VectorSource> MakeServerSource(SemrankClient& client);

// Vectors from a published model, computed on all processors: the bits that a
// server with this build and processor returns. As there, a
// text of more than `max_text_bytes` is a problem. Errors are those of
// LoadModel, and NotFound for a model with another name. Memory: the model, and
// vectors of 2,048 texts.
std::unique_ptr<VectorSource> MakeModelDirectorySource(
    std::string path, std::int64_t max_text_bytes = kDefaultMaxTextBytes);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_BULK_VECTOR_SOURCE_H_
