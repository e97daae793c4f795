// Vectors straight from a published model, without a server, on all processors.
//
//   Result   the bits that a server of this machine and build answers. Texts
//            may have any length.
//   Errors   as LoadModel; NotFound for another name than the folder's.
//   Memory   of the model, and of the texts and vectors of one call.
//   Threads  one thread calls; it makes the pool that does the work.
#ifndef SEMRANK_CLIENT_BULK_MODEL_DIRECTORY_H_
#define SEMRANK_CLIENT_BULK_MODEL_DIRECTORY_H_

#include <memory>
#include <string>
#include <vector>

#include "client/bulk/vector_source.h"
#include "model/base/thread_pool.h"
#include "model/nn/two_tower_model.h"

namespace semrank {

class ModelDirectory : public VectorSource {
 public:
  explicit ModelDirectory(std::string path);

  // Loads it; the version stays loaded until another one is asked for.
  absl::StatusOr<v1::Model> GetModel(const v1::ModelRef& model) override;
  // Loads the model that the request names, unless it is the loaded one. The
  // answer is one piece.
  absl::Status EmbedTextsStream(const v1::EmbedTextsRequest& request,
                                const Take& take) override;

 private:
  absl::Status Load(const v1::ModelRef& wanted);

  const std::string path_;
  ThreadPool pool_;
  std::shared_ptr<const TwoTowerModel> model_;
  std::vector<EmbedScratch> scratches_;  // one a thread
};

}  // namespace semrank

#endif  // SEMRANK_CLIENT_BULK_MODEL_DIRECTORY_H_
