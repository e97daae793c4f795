// The values of an SSI model that is being trained: learned weights, and idf
// and correlated words, which are computed from the documents before training.
#ifndef SEMRANK_MODEL_TRAIN_SSI_SSI_WEIGHTS_H_
#define SEMRANK_MODEL_TRAIN_SSI_SSI_WEIGHTS_H_

#include <vector>

#include "model/format/safetensors.h"
#include "model/nn/sparse_scorer.h"
#include "model/nn/ssi_tower.h"
#include "model/train/data/training_data.h"
#include "model/train/options/train_options.h"
#include "model/train/towers/tower_weights.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {

struct SsiWeights {
  v1::SsiSpec spec;
  int num_words = 0;
  std::vector<float> idf;         // [num_words]
  std::vector<float> correlated;  // as SsiRows::correlated; may be empty
  // U' and V', [rows, dim], without biases. A variant without U and V has no
  // rows; nor has `document` when the tower is shared.
  LayerWeights query;
  LayerWeights document;
  // The logit of the factor of mixed parts; empty = one part.
  std::vector<float> mixing;
  // Depending on the variant, the diagonal, all of W, or the weights of hashed
  // pairs.
  std::vector<float> words;

  // The views are valid as long as the vectors do not move.
  SsiRows Rows() const;
  SparseWeights Sparse() const;
  // The weights under their names in a model file.
  std::vector<TensorView> Tensors() const;
  // The name of `words` in a model file.
  const char* WordsTensor() const;
};

// The weights before the first step: U and V drawn from N(0, 1) x init_scale
// (SSI 2.3), and otherwise W = I, or W = 0 for the hash kernel alone. Mixed
// parts begin with equal shares. The weights of --init_from overwrite all
// values, so idf and correlated words are not computed then.
SsiWeights InitialSsiWeights(const TrainOptions& options,
                             const TrainingData& data);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_SSI_SSI_WEIGHTS_H_
