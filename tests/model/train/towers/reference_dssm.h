// DSSM eq. 3-9 and CLSM eq. 1-6 in plain double precision, straight from the
// papers: what the trainer's gradients are differenced against.
#ifndef SEMRANK_TESTS_MODEL_TRAIN_TOWERS_REFERENCE_DSSM_H_
#define SEMRANK_TESTS_MODEL_TRAIN_TOWERS_REFERENCE_DSSM_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "model/data/text_table.h"
#include "model/train/batches/mini_batch.h"
#include "model/train/towers/training_kernels.h"
#include "model/train/towers/two_tower_trainer.h"

namespace semrank {

// TwoTowerWeights in double precision; `document` empty = shared.
struct ReferenceTower {
  struct Layer {
    int in = 0;
    int out = 0;
    std::vector<double> weight;  // [in, out]
    std::vector<double> bias;
  };
  std::vector<Layer> layers;
};

ReferenceTower ToReference(const TowerWeights& tower);

// One text on its way through a tower.
struct ReferenceText {
  // What layer 0 multiplies: l_t of CLSM eq. 1 for each word, of DSSM the bag.
  // Empty for a text without known features.
  std::vector<std::vector<double>> windows;
  std::vector<int> winners;  // the window of each unit of layer 0 (CLSM eq. 15)
  std::vector<std::vector<double>> outputs;  // of each layer; y is the last
};

// What multiplies the units of a hidden layer; unset = 1.
using UnitFactors = std::function<std::vector<double>(int layer, int width)>;

// window 0 = DSSM. Row f * window + p of the convolution is feature f at place
// p.
ReferenceText Forward(const ReferenceTower& tower, const TextBags& bags,
                      TextId id, int window, bool tanh_output,
                      const UnitFactors& factors = nullptr);

struct ReferenceDssm {
  ReferenceTower query;
  ReferenceTower document;
  int window = 0;  // of CLSM
  bool tanh_output = true;
  double gamma = 1;
  // 0 or 1 / (1 - p) for each hidden unit of the text at a place of the batch;
  // unset = 1.
  std::function<std::vector<double>(const HiddenRow& row, int width)> dropout =
      nullptr;

  // Each (query, title) of the click log, of which the batch is a part: the
  // title is not a negative of the query. Here no mask of the batch is read.
  std::set<std::pair<TextId, TextId>> clicked = {};

  // X of --logq, and the logarithm of the number of pairs of each title.
  double logq = 0;
  std::map<TextId, double> log_frequency = {};

  // Mean loss of the batch. The unclicked titles of the batch are negatives
  // when batch.all_titles, and each listed one that is not among them.
  double Loss(const TextBags& bags, const MiniBatch& batch) const;

 private:
  std::vector<std::uint32_t> NegativesOf(const MiniBatch& batch, int i) const;
  std::vector<double> Embed(const ReferenceTower& tower, const TextBags& bags,
                            TextId id, std::uint32_t place) const;
};

}  // namespace semrank

#endif  // SEMRANK_TESTS_MODEL_TRAIN_TOWERS_REFERENCE_DSSM_H_
