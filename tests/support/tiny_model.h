// A DSSM of random weights, small enough to build in every test: hashed letter
// trigrams, one hidden layer, two towers.
#ifndef SEMRANK_TESTS_SUPPORT_TINY_MODEL_H_
#define SEMRANK_TESTS_SUPPORT_TINY_MODEL_H_

#include <cstdint>
#include <memory>
#include <string>

#include "model/nn/two_tower_model.h"

namespace semrank {

struct TinyModelOptions {
  std::string name = "tiny";
  std::int64_t version = 1;
  int num_buckets = 512;
  int hidden_dim = 24;
  int embedding_dim = 16;
  // Other seeds give other weights, and another identity.
  std::uint32_t seed = 1;
  // The weight of a lexical part of 4,096 buckets; below 0 = none.
  double lexical_weight = -1;
  VectorPrecision vector_precision = VectorPrecision::kFloat32;
};

std::shared_ptr<const TwoTowerModel> MakeTinyModel(
    const TinyModelOptions& options = {});

// Publishes the same weights as the next version in `model_dir`; the folder
// and the layout decide name, version and identity. Aborts on failure.
std::int64_t PublishTinyModel(const std::string& model_dir,
                              const TinyModelOptions& options = {});

}  // namespace semrank

#endif  // SEMRANK_TESTS_SUPPORT_TINY_MODEL_H_
