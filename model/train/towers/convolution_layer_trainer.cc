#include "model/train/towers/convolution_layer_trainer.h"

#include <algorithm>

#include "model/nn/max_pool.h"
#include "model/train/towers/gradient_kernels.h"

namespace semrank {
namespace {

// The number of words of one task.
constexpr int kWordBlock = 32;

}  // namespace

std::span<const std::uint32_t> ConvolutionLayerTrainer::Padded(int text) const {
  return {padded_.data() + begins_[text], begins_[text + 1] - begins_[text]};
}

float* ConvolutionLayerTrainer::WordRow(int word) {
  return sums_.data() + static_cast<std::size_t>(word) * layer_.width();
}

void ConvolutionLayerTrainer::AppendWord(std::uint32_t global) {
  if (places_[global] == 0) {
    words_.push_back(global);
    places_[global] = static_cast<std::uint32_t>(words_.size());
  }
  padded_.push_back(places_[global] - 1);
}

absl::Status ConvolutionLayerTrainer::SetTexts(const TextBags& texts,
                                               std::span<const TextId> ids) {
  texts_ = &texts;
  if (places_.size() < texts.num_bags()) places_.resize(texts.num_bags());
  words_.clear();
  padded_.clear();
  begins_.assign(1, 0);
  for (const TextId id : ids) {
    const auto pad = [this] {
      for (int i = 0; i < window_ / 2; ++i) AppendWord(TextBags::kPadding);
    };
    pad();
    for (const std::uint32_t word : texts.words(id)) AppendWord(word);
    pad();
    begins_.push_back(padded_.size());
  }
  // Only the entries of this step are reset: places_ has one for each word of
  // the data.
  for (const std::uint32_t word : words_) places_[word] = 0;
  winners_.resize(ids.size() * static_cast<std::size_t>(out_));
  sums_.resize(words_.size() * layer_.width());
  return texts.Layout(words_, bags_);
}

void ConvolutionLayerTrainer::AddPrepareTasks(TaskList& tasks) {
  tasks.AddBlocks(num_words(), kWordBlock, [this](int first, int last, int) {
    // W_c times each distinct word, at each place of a window, is computed once
    // for all windows that contain the word.
    texts_->Fill(words_, first, last, bags_);
    layer_.Forward(bags_, first, last, WordRow(first));
  });
}

void ConvolutionLayerTrainer::Forward(int first, int last, bool learn,
                                      float* outputs) {
  for (int t = first; t < last; ++t) {
    const std::size_t row = static_cast<std::size_t>(t) * out_;
    float* output = outputs + static_cast<std::size_t>(t - first) * out_;
    // A text without words is only its padding, window - 1 words: no window
    // fits. Its winners_ are not set, and GatherWord visits no window of it.
    if (Padded(t).size() < static_cast<std::size_t>(window_)) {
      std::fill_n(output, out_, 0.0f);  // no word
      continue;
    }
    // z_t is the sum of the window's words, each at its place (eq. 1, 2); the
    // output is the largest z_t of each unit (CLSM 3.4), still before bias and
    // tanh.
    MaxPoolWindows(sums_.data(), Padded(t), window_, out_, output,
                   learn ? &winners_[row] : nullptr);
  }
  layer_.AddBias(last - first, outputs);
}

bool ConvolutionLayerTrainer::HasFeatures(int text) const {
  const std::span<const std::uint32_t> padded = Padded(text);
  const auto margin = static_cast<std::size_t>(window_ / 2);
  const auto words = padded.subspan(margin, padded.size() - 2 * margin);
  return std::any_of(words.begin(), words.end(), [this](std::uint32_t word) {
    return !bags_.empty(static_cast<int>(word));
  });
}

void ConvolutionLayerTrainer::AddTransposeTasks(TaskList& tasks) {
  tasks.Add(1, [this](int, int) { layer_.TransposeBags(bags_); });
  tasks.Add(1, [this](int, int) { ListOccurrences(); });
}

// Lists the positions of each word, in ascending order of the texts.
void ConvolutionLayerTrainer::ListOccurrences() {
  std::vector<std::size_t>& begins = occurrence_begins_;
  // While the lists are filled, begins[w + 1] is the position of word w's next
  // occurrence.
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

void ConvolutionLayerTrainer::AddPackTasks(const float* deltas,
                                           TaskList& tasks) {
  tasks.AddBlocks(num_words(), kWordBlock,
                  [this, deltas](int first, int last, int) {
                    for (int w = first; w < last; ++w) GatherWord(w, deltas);
                  });
}

// Eq. 16: the delta of a unit goes to the words of the window with its maximum,
// each at its place of the window.
void ConvolutionLayerTrainer::GatherWord(int word, const float* deltas) {
  // The rows of the forward pass are no longer needed: all texts have their
  // maxima. They become the sums of deltas.
  float* row = WordRow(word);
  std::fill_n(row, layer_.width(), 0.0f);
  for (std::size_t i = occurrence_begins_[word];
       i < occurrence_begins_[word + 1]; ++i) {
    const auto [text, place] = occurrences_[i];
    const int num_windows = static_cast<int>(Padded(text).size()) - window_ + 1;
    const std::size_t units = std::size_t{text} * out_;
    for (int p = 0; p < window_; ++p) {
      // In window t the word stands at place p.
      const int t = static_cast<int>(place) - p;
      if (t < 0 || t >= num_windows) continue;
      AddWon(&winners_[units], t, deltas + units, out_, row + p * out_);
    }
  }
}

void ConvolutionLayerTrainer::AddUpdateTasks(double learning_rate,
                                             const float* deltas,
                                             WorkerScratch& scratch,
                                             TaskList& tasks) {
  layer_.BeginStep(learning_rate);
  tasks.Add(1, [this, deltas, &scratch](int, int worker) {
    layer_.UpdateBias(deltas, num_texts(), scratch[worker]);
  });
  tasks.Add(layer_.num_tasks(), [this, &scratch](int task, int worker) {
    // The "bags" of this layer are the distinct words of the step, and sums_
    // has the deltas of each. The texts' deltas went into them before.
    layer_.RunUpdateTask(sums_.data(), task, scratch[worker]);
  });
}

}  // namespace semrank
