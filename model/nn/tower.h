// One side of a two-tower model: texts, as bags of features, to vectors of
// unit length.
//
//   Shape    vectors are row-major [num_texts, embedding_dim()].
//   Length   1 (L2), or exactly zero for a text without any known feature.
//   Promise  a text's vector is the same bits alone, in any batch and in any
//            thread, within one build on one machine.
//   Threads  const after construction; each thread brings its own scratch.
#ifndef SEMRANK_MODEL_NN_TOWER_H_
#define SEMRANK_MODEL_NN_TOWER_H_

#include <vector>

#include "model/text/featurizer.h"

namespace semrank {

// Memory that Embed reuses from call to call; belongs to one thread.
struct TowerScratch {
  std::vector<float> activations[2];
};

class Tower {
 public:
  virtual ~Tower() = default;

  virtual int num_features() const = 0;
  virtual int embedding_dim() const = 0;

  // `batch` must come from a featurizer of num_features(). No allocation once
  // the scratch has grown.
  virtual void Embed(const BagBatch& batch, TowerScratch& scratch,
                     float* vectors) const = 0;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_NN_TOWER_H_
