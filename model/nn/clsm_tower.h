// The tower of the CLSM paper (figure 1): the words of a text, in order,
// through a convolution over windows of n = 2d + 1 words, max pooling over the
// text, and dense layers.
//
//   l_t = [f_(t-d); ...; f_(t+d)]     bags of the words around word t   (eq. 1)
//   h_t = tanh(Wc l_t + b)                                              (eq. 2)
//   v   = max over t of h_t, unit by unit                               (3.4)
//   y   = tanh(Ws v + b), ..., vector = y / |y|                         (3.5)
//
// A text has d paddings "<s>" on each side, so it may be shorter than the
// window. Wc l_t is a sum over the places of the window. So each distinct word
// of a batch is multiplied once for each place, and windows are never
// materialised.
#ifndef SEMRANK_MODEL_NN_CLSM_TOWER_H_
#define SEMRANK_MODEL_NN_CLSM_TOWER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/nn/dense_layers.h"
#include "model/nn/tower.h"

namespace semrank {

inline constexpr int kMaxClsmWindow = 15;

// The words of `text` with window / 2 paddings on each side, for
// MaxPoolWindows.
void PadWords(std::span<const std::uint32_t> text, int window,
              std::vector<std::uint32_t>& padded);

// One unit of the max-pooling layer.
struct PooledUnit {
  float activation = 0;  // v(i)
  int word = 0;          // the middle of the window that won it, from 0 on
};

class ClsmTower : public Tower {
 public:
  // layers[0] is the convolution: in = num_features * window, row f * window +
  // p for feature f at place p of the window; its weights are used in place;
  // `storage` keeps them alive. The others, at least one, are the tanh layers
  // after the pooling, of a model of that precision. InvalidArgument as
  // CheckLayers, and for a window that is not odd and 1 to kMaxClsmWindow or
  // does not divide layers[0].in.
  static absl::StatusOr<std::unique_ptr<ClsmTower>> Create(
      const std::vector<LayerView>& layers, int window,
      std::shared_ptr<const void> storage,
      VectorPrecision precision = VectorPrecision::kFloat32);

  int window() const { return window_; }
  int num_features() const override { return convolution_.in / window_; }
  int embedding_dim() const override { return dense_.embedding_dim(); }
  void AppendText(const Featurizer& featurizer, std::string_view normalized,
                  TowerInput& input) const override {
    featurizer.AppendWords(normalized, input.sequences);
  }
  void Embed(const TowerInput& input, TowerScratch& scratch,
             float* vectors) const override;

  // h_t of eq. 2 for the window around word `word`, from 0 on, of text t of
  // `input`: one activation a unit of the max-pooling layer. The text has the
  // word.
  std::vector<float> ConvolveWord(const TowerInput& input, int t, int word,
                                  TowerScratch& scratch) const;

  // The units of the max-pooling layer for text t of `input` and the words
  // that won them (eq. 15; the first of equals). Empty for a text without
  // words.
  std::vector<PooledUnit> PoolText(const TowerInput& input, int t,
                                   TowerScratch& scratch) const;

 private:
  ClsmTower() = default;
  // The maxima over the windows in `padded`, with bias and tanh.
  std::vector<float> Pool(std::span<const std::uint32_t> padded,
                          TowerScratch& scratch, std::int32_t* winners) const;
  // Computes what words [first, last) of the batch add at each place.
  void SumWords(const BagBatch& words, int first, int last,
                TowerScratch& scratch) const;
  // Embeds texts [first, last), whose words SumWords has summed.
  void EmbedBlock(const WordSequences& texts, int first, int last,
                  TowerScratch& scratch, float* vectors) const;

  LayerView convolution_;
  int window_ = 1;
  DenseLayers dense_;
  std::shared_ptr<const void> storage_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_NN_CLSM_TOWER_H_
