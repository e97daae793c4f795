// Trains the input layer of CLSM: windows of words, convolution and max pooling
// (eq. 1, 2, 3.4); the gradient goes back to the windows with the maxima
// (appendix, eq. 15, 16).
//
// tanh is increasing, so max over t of tanh(z_t + b) = tanh(max over t of z_t +
// b): the output is the maximum before tanh. Neither windows nor their
// gradients are built. Each distinct word of the step has one row of `window`
// places of `out` numbers. In the forward pass it holds what the word adds at
// each place, in the backward pass the sum of the deltas that arrive there.
//
//   Memory   window x out floats for each distinct word of the step, 4 bytes
//            for each distinct word of the texts.
//   Promise  one task sums a row, over the texts in their order.
//   Threads  as InputLayerTrainer.
#ifndef SEMRANK_MODEL_TRAIN_TOWERS_CONVOLUTION_LAYER_TRAINER_H_
#define SEMRANK_MODEL_TRAIN_TOWERS_CONVOLUTION_LAYER_TRAINER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/text/featurizer.h"
#include "model/train/towers/bag_layer_trainer.h"
#include "model/train/towers/input_layer_trainer.h"

namespace semrank {

class ConvolutionLayerTrainer : public InputLayerTrainer {
 public:
  // `weights` [num_features * window, out] as in ClsmTower; they outlive the
  // layer and do not move.
  ConvolutionLayerTrainer(LayerWeights& weights, int window,
                          const OptimizerOptions& options)
      : window_(window), out_(weights.out), layer_(weights, options, window) {}

  // `texts` are word sequences.
  absl::Status SetTexts(const TextBags& texts,
                        std::span<const TextId> ids) override;
  void AddPrepareTasks(TaskList& tasks) override;
  void Forward(int first, int last, bool learn, float* outputs) override;
  bool HasFeatures(int text) const override;
  void AddTransposeTasks(TaskList& tasks) override;
  void AddPackTasks(const float* deltas, TaskList& tasks) override;
  void AddUpdateTasks(double learning_rate, const float* deltas,
                      WorkerScratch& scratch, TaskList& tasks) override;

  BagLayerTrainer& bag_layer() override { return layer_; }

 private:
  // A place of a padded text.
  struct Occurrence {
    std::uint32_t text;
    std::uint32_t place;
  };

  int num_texts() const { return static_cast<int>(begins_.size()) - 1; }
  int num_words() const { return bags_.num_texts(); }
  // The words of a text with its paddings, as rows of sums_.
  std::span<const std::uint32_t> Padded(int text) const;
  float* WordRow(int word);
  void AppendWord(std::uint32_t global);
  void ListOccurrences();
  void GatherWord(int word, const float* deltas);

  const int window_;
  const int out_;
  BagLayerTrainer layer_;

  const TextBags* texts_ = nullptr;
  // Distinct words of the step, and their bags, in order of first appearance.
  std::vector<std::uint32_t> words_;
  BagBatch bags_;
  // One more than the place of a word in words_; 0 = it has none. All are 0
  // between calls.
  std::vector<std::uint32_t> places_;
  std::vector<std::size_t> begins_;  // of each text in padded_
  std::vector<std::uint32_t> padded_;
  // [num_words, window, out]: sums of weights, later of deltas.
  std::vector<float> sums_;
  std::vector<std::int32_t> winners_;  // [num_texts, out], windows from 0 on
  // Word w: [occurrence_begins_[w], occurrence_begins_[w + 1]).
  std::vector<std::size_t> occurrence_begins_;
  std::vector<Occurrence> occurrences_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_TOWERS_CONVOLUTION_LAYER_TRAINER_H_
