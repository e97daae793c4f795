#include "model/nn/clsm_tower.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/nn/kernels.h"
#include "model/nn/max_pool.h"

namespace semrank {
namespace {

// Texts that pass through all layers together, so that their word sums stay in
// the L2 cache. Does not change the result.
constexpr int kClsmBlockTexts = 32;

absl::Status CheckShape(std::span<const LayerView> layers, int window) {
  SEMRANK_RETURN_IF_ERROR(CheckLayers(layers));
  if (layers.size() < 2) {
    return absl::InvalidArgumentError(
        "a CLSM needs a layer after its max pooling");
  }
  if (window < 1 || window > kMaxClsmWindow || window % 2 == 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("a window of %d words; it must be odd and 1 to %d",
                        window, kMaxClsmWindow));
  }
  // The rows of W_c: one for each feature at each place of the window.
  if (layers[0].in % window == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "the convolution takes %d inputs, which is not a multiple of its window "
      "of %d words",
      layers[0].in, window));
}

}  // namespace

void PadWords(std::span<const std::uint32_t> text, int window,
              std::vector<std::uint32_t>& padded) {
  const auto margin = static_cast<std::size_t>(window / 2);
  padded.assign(text.size() + 2 * margin, 0);  // word 0 is the padding
  std::copy(text.begin(), text.end(),
            padded.begin() + static_cast<std::ptrdiff_t>(margin));
}

absl::StatusOr<std::unique_ptr<ClsmTower>> ClsmTower::Create(
    const std::vector<LayerView>& layers, int window,
    std::shared_ptr<const void> storage, VectorPrecision precision) {
  SEMRANK_RETURN_IF_ERROR(CheckShape(layers, window));
  // make_unique cannot reach the private constructor.
  std::unique_ptr<ClsmTower> tower(new ClsmTower());
  tower->convolution_ = layers.front();
  tower->window_ = window;
  tower->dense_ = DenseLayers(layers, Activation::kTanh, precision);
  tower->storage_ = std::move(storage);
  return tower;
}

void ClsmTower::Embed(const TowerInput& input, TowerScratch& scratch,
                      float* vectors) const {
  const WordSequences& texts = input.sequences;
  int num_summed = 0;
  for (int first = 0; first < texts.num_texts(); first += kClsmBlockTexts) {
    const int last = std::min(first + kClsmBlockTexts, texts.num_texts());
    // Words are numbered by first appearance, so the words that are new in
    // these texts directly follow the summed ones.
    std::uint32_t highest = 0;
    for (std::size_t i = texts.offsets[first]; i < texts.offsets[last]; ++i) {
      highest = std::max(highest, texts.words[i]);
    }
    const int num_words = std::max(num_summed, static_cast<int>(highest) + 1);
    // W_c times each new word at every place, once a batch, however many
    // windows and texts contain the word.
    SumWords(texts.bags, num_summed, num_words, scratch);
    num_summed = num_words;
    EmbedBlock(texts, first, last, scratch,
               vectors + static_cast<std::ptrdiff_t>(first) * embedding_dim());
  }
}

void ClsmTower::SumWords(const BagBatch& words, int first, int last,
                         TowerScratch& scratch) const {
  const int width = window_ * convolution_.out;
  float* sums = GrowTo(scratch.word_sums, last, width);
  SumBags(words, first, last, convolution_.weight, width,
          sums + static_cast<std::ptrdiff_t>(first) * width);
}

void ClsmTower::EmbedBlock(const WordSequences& texts, int first, int last,
                           TowerScratch& scratch, float* vectors) const {
  const int rows = last - first;
  const int width = convolution_.out;
  float* pooled = dense_.Input(rows, scratch, vectors);
  for (int i = 0; i < rows; ++i) {
    float* row = pooled + static_cast<std::ptrdiff_t>(i) * width;
    const std::span<const std::uint32_t> text = texts.text(first + i);
    // A text without words has no window and no maximum. ClearEmptyTexts makes
    // its vector zero after the layers have run.
    if (text.empty()) {
      std::fill_n(row, width, 0.0f);
      continue;
    }
    PadWords(text, window_, scratch.padded_words);
    // Eq. 1, 2 and 3.4 before bias and tanh, which do not change which window
    // is the highest. Finish applies tanh.
    MaxPoolWindows(scratch.word_sums.data(), scratch.padded_words, window_,
                   width, row);
  }
  AddBias(convolution_.bias, rows, width, pooled);
  dense_.Finish(rows, pooled, scratch, vectors);
  ClearEmptyTexts(
      rows, embedding_dim(),
      [&](int i) { return texts.HasFeatures(first + i); }, vectors);
}

std::vector<PooledUnit> ClsmTower::PoolText(const TowerInput& input, int t,
                                            TowerScratch& scratch) const {
  const WordSequences& texts = input.sequences;
  if (texts.text(t).empty()) return {};
  std::vector<std::int32_t> winners(convolution_.out);
  // Sums all words of the batch; callers pass few texts.
  SumWords(texts.bags, 0, texts.bags.num_texts(), scratch);
  PadWords(texts.text(t), window_, scratch.padded_words);
  const std::vector<float> pooled =
      Pool(scratch.padded_words, scratch, winners.data());
  std::vector<PooledUnit> units;
  for (std::size_t i = 0; i < pooled.size(); ++i) {
    units.push_back({pooled[i], winners[i]});
  }
  return units;
}

std::vector<float> ClsmTower::ConvolveWord(const TowerInput& input, int t,
                                           int word,
                                           TowerScratch& scratch) const {
  const WordSequences& texts = input.sequences;
  SumWords(texts.bags, 0, texts.bags.num_texts(), scratch);
  PadWords(texts.text(t), window_, scratch.padded_words);
  // A single window is its own maximum.
  return Pool(std::span(scratch.padded_words).subspan(word, window_), scratch,
              nullptr);
}

std::vector<float> ClsmTower::Pool(std::span<const std::uint32_t> padded,
                                   TowerScratch& scratch,
                                   std::int32_t* winners) const {
  std::vector<float> pooled(convolution_.out);
  MaxPoolWindows(scratch.word_sums.data(), padded, window_, convolution_.out,
                 pooled.data(), winners);
  AddBias(convolution_.bias, 1, convolution_.out, pooled.data());
  Tanh(pooled.data(), pooled.size());
  return pooled;
}

}  // namespace semrank
