#include "model/train/towers/input_layer_trainer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/nn/max_pool.h"
#include "model/train/towers/training_kernels.h"

namespace semrank {
namespace {

// The number of words of one task.
constexpr int kWordBlock = 32;

// Adds the update of `layer`, whose bags have the deltas `deltas_of_bags`, and
// whose bias has those of the texts.
void AddLayerUpdateTasks(double learning_rate, const float* deltas_of_texts,
                         int num_texts, const float* deltas_of_bags,
                         BagLayerTrainer& layer, WorkerScratch& scratch,
                         TaskList& tasks) {
  layer.BeginStep(learning_rate);
  tasks.Add(1, [=, &layer, &scratch](int, int worker) {
    layer.UpdateBias(deltas_of_texts, num_texts, scratch[worker]);
  });
  tasks.Add(layer.num_tasks(), [=, &layer, &scratch](int task, int worker) {
    layer.RunUpdateTask(deltas_of_bags, task, scratch[worker]);
  });
}

// The input layer of DSSM: one bag a text, z = x W + b (eq. 3).
class BagInputTrainer : public InputLayerTrainer {
 public:
  BagInputTrainer(LayerWeights& weights, const OptimizerOptions& options)
      : layer_(weights, options) {}

  absl::Status SetTexts(const TextBags& texts,
                        std::span<const TextId> ids) override {
    texts_ = &texts;
    ids_ = ids;
    return texts.Layout(ids, bags_);
  }
  // Forward fills the bags that it reads.
  void AddPrepareTasks(TaskList&) override {}

  void Forward(int first, int last, bool /*learn*/, float* outputs) override {
    // Layout has only placed the bags. Each block fills its own, in parallel
    // and just before it reads them.
    texts_->Fill(ids_, first, last, bags_);
    layer_.Forward(bags_, first, last, outputs);
    layer_.AddBias(last - first, outputs);
  }

  bool HasFeatures(int text) const override { return !bags_.empty(text); }

  void AddTransposeTasks(TaskList& tasks) override {
    tasks.Add(1, [this](int, int) { layer_.TransposeBags(bags_); });
  }
  void AddPackTasks(const float*, TaskList&) override {}
  void AddUpdateTasks(double learning_rate, const float* deltas,
                      WorkerScratch& scratch, TaskList& tasks) override {
    AddLayerUpdateTasks(learning_rate, deltas, bags_.num_texts(), deltas,
                        layer_, scratch, tasks);
  }

  BagLayerTrainer& bag_layer() override { return layer_; }

 private:
  BagLayerTrainer layer_;
  const TextBags* texts_ = nullptr;
  std::span<const TextId> ids_;
  BagBatch bags_;
};

// The input layer of CLSM: windows of words, convolution and max pooling (eq.
// 1, 2, 3.4); the gradient goes back to the windows with the maxima (appendix,
// eq. 15, 16).
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
class ConvolutionLayerTrainer : public InputLayerTrainer {
 public:
  ConvolutionLayerTrainer(LayerWeights& weights, int window,
                          const OptimizerOptions& options)
      : window_(window), out_(weights.out), layer_(weights, options, window) {}

  // `texts` are word sequences.
  absl::Status SetTexts(const TextBags& texts,
                        std::span<const TextId> ids) override {
    texts_ = &texts;
    if (places_.size() < texts.num_bags()) places_.resize(texts.num_bags());
    words_.clear();
    padded_.clear();
    begins_.assign(1, 0);
    for (const TextId id : ids) {
      AppendPadding();
      for (const std::uint32_t word : texts.words(id)) AppendWord(word);
      AppendPadding();
      begins_.push_back(padded_.size());
    }
    // Only the entries of this step are reset: places_ has one for each word of
    // the data.
    for (const std::uint32_t word : words_) places_[word] = 0;
    winners_.resize(ids.size() * static_cast<std::size_t>(out_));
    sums_.resize(words_.size() * layer_.width());
    return texts.Layout(words_, bags_);
  }

  void AddPrepareTasks(TaskList& tasks) override {
    tasks.AddBlocks(num_words(), kWordBlock, [this](int first, int last, int) {
      // W_c times each distinct word, at each place of a window, is computed
      // once for all windows that contain the word.
      texts_->Fill(words_, first, last, bags_);
      layer_.Forward(bags_, first, last, WordRow(first));
    });
  }

  void Forward(int first, int last, bool learn, float* outputs) override {
    for (int t = first; t < last; ++t) {
      const std::size_t row = static_cast<std::size_t>(t) * out_;
      float* output = outputs + static_cast<std::size_t>(t - first) * out_;
      // A text without words is only its padding, window - 1 words: no window
      // fits. Its winners_ are not set, and GatherWord visits no window of it.
      if (Padded(t).size() < static_cast<std::size_t>(window_)) {
        std::fill_n(output, out_, 0.0f);
        continue;
      }
      // z_t is the sum of the window's words, each at its place (eq. 1, 2); the
      // output is the largest z_t of each unit (CLSM 3.4), still before bias
      // and tanh.
      MaxPoolWindows(sums_.data(), Padded(t), window_, out_, output,
                     learn ? &winners_[row] : nullptr);
    }
    layer_.AddBias(last - first, outputs);
  }

  bool HasFeatures(int text) const override {
    const std::span<const std::uint32_t> padded = Padded(text);
    const auto margin = static_cast<std::size_t>(window_ / 2);
    return std::ranges::any_of(
        padded.subspan(margin, padded.size() - 2 * margin),
        [this](std::uint32_t word) {
          return !bags_.empty(static_cast<int>(word));
        });
  }

  void AddTransposeTasks(TaskList& tasks) override {
    tasks.Add(1, [this](int, int) { layer_.TransposeBags(bags_); });
    tasks.Add(1, [this](int, int) { ListOccurrences(); });
  }
  void AddPackTasks(const float* deltas, TaskList& tasks) override {
    tasks.AddBlocks(num_words(), kWordBlock,
                    [this, deltas](int first, int last, int) {
                      for (int w = first; w < last; ++w) GatherWord(w, deltas);
                    });
  }
  // The "bags" of this layer are the distinct words of the step, and sums_ has
  // the deltas of each: GatherWord has added those of the texts.
  void AddUpdateTasks(double learning_rate, const float* deltas,
                      WorkerScratch& scratch, TaskList& tasks) override {
    AddLayerUpdateTasks(learning_rate, deltas, num_texts(), sums_.data(),
                        layer_, scratch, tasks);
  }

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
  std::span<const std::uint32_t> Padded(int text) const {
    return {padded_.data() + begins_[text], begins_[text + 1] - begins_[text]};
  }
  float* WordRow(int word) {
    return sums_.data() + static_cast<std::size_t>(word) * layer_.width();
  }

  void AppendPadding() {
    for (int i = 0; i < window_ / 2; ++i) AppendWord(TextBags::kPadding);
  }
  void AppendWord(std::uint32_t global) {
    if (places_[global] == 0) {
      words_.push_back(global);
      places_[global] = static_cast<std::uint32_t>(words_.size());
    }
    padded_.push_back(places_[global] - 1);
  }

  // Lists the positions of each word, in ascending order of the texts.
  void ListOccurrences() {
    std::vector<std::size_t>& begins = occurrence_begins_;
    // While the lists are filled, begins[w + 1] is the position of word w's
    // next occurrence.
    begins.assign(words_.size() + 2, 0);
    for (const std::uint32_t word : padded_) ++begins[word + 2];
    for (std::size_t w = 2; w < begins.size(); ++w) begins[w] += begins[w - 1];
    occurrences_.resize(padded_.size());
    for (int t = 0; t < num_texts(); ++t) {
      std::uint32_t place = 0;
      for (const std::uint32_t word : Padded(t)) {
        occurrences_[begins[word + 1]++] = {static_cast<std::uint32_t>(t),
                                            place++};
      }
    }
  }

  // Eq. 16: the delta of a unit goes to the words of the window with its
  // maximum, each at its place of the window.
  void GatherWord(int word, const float* deltas) {
    // The rows of the forward pass are no longer needed: all texts have their
    // maxima. They become the sums of deltas.
    float* row = WordRow(word);
    std::fill_n(row, layer_.width(), 0.0f);
    for (std::size_t i = occurrence_begins_[word];
         i < occurrence_begins_[word + 1]; ++i) {
      const auto [text, place] = occurrences_[i];
      const int num_windows =
          static_cast<int>(Padded(text).size()) - window_ + 1;
      const std::size_t units = std::size_t{text} * out_;
      for (int p = 0; p < window_; ++p) {
        // In window t the word stands at place p.
        const int t = static_cast<int>(place) - p;
        if (t < 0 || t >= num_windows) continue;
        AddWon(&winners_[units], t, deltas + units, out_, row + p * out_);
      }
    }
  }

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

}  // namespace

std::unique_ptr<InputLayerTrainer> MakeInputLayerTrainer(
    LayerWeights& weights, const OptimizerOptions& options, int clsm_window) {
  if (clsm_window == 0) {
    return std::make_unique<BagInputTrainer>(weights, options);
  }
  return std::make_unique<ConvolutionLayerTrainer>(weights, clsm_window,
                                                   options);
}

}  // namespace semrank
