// One side of a two-tower model: texts to vectors.
//
//   Input    a bag of features, or the words in order; AppendText takes what
//            the tower needs from the featurizer.
//   Shape    vectors are row-major [num_texts, embedding_dim()].
//   Length   1 (L2), or exactly zero for a text without any known feature. SSI:
//            any length, and embedding_dim() may be 0.
//   Promise  the vector of a text is bitwise the same alone, in any batch and
//            in any thread, within one build on one machine.
//   Threads  thread-safe; each thread uses its own scratch.
#ifndef SEMRANK_MODEL_NN_TOWER_H_
#define SEMRANK_MODEL_NN_TOWER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/nn/int8_layer.h"
#include "model/nn/word_sums.h"
#include "model/text/featurizer.h"

namespace semrank {

// The texts of a batch, in the form that the tower reads.
struct TowerInput {
  BagBatch bags;  // bag i: text i
  WordSequences sequences;

  void Clear() {
    bags.Clear();
    sequences.Clear();
  }
};

// Memory that Embed reuses between calls. Not thread-safe.
struct TowerScratch {
  std::array<std::vector<float>, 2> activations;
  Int8Scratch int8;
  std::vector<float> word_sums;
  std::vector<std::uint32_t> padded_words;
  BagBatch words;  // tf-idf
  BagBatch rows;
  RowLists row_lists;
};

// Memory for `rows` rows of `width`; keeps the content.
inline float* GrowTo(std::vector<float>& values, int rows, int width) {
  const auto size =
      static_cast<std::size_t>(rows) * static_cast<std::size_t>(width);
  if (values.size() < size) values.resize(size);
  return values.data();
}

class Tower {
 public:
  virtual ~Tower() = default;

  virtual int num_features() const = 0;
  virtual int embedding_dim() const = 0;

  // Appends one normalised text to `input`, which is for towers of this kind.
  // `featurizer` has num_features().
  virtual void AppendText(const Featurizer& featurizer,
                          std::string_view normalized,
                          TowerInput& input) const {
    featurizer.AppendBag(normalized, input.bags);
  }
  // No allocation once the scratch has grown.
  virtual void Embed(const TowerInput& input, TowerScratch& scratch,
                     float* vectors) const = 0;

  // Embeds normalised texts by AppendText for each, then Embed, or by a faster
  // way with the same result up to rounding. `featurizer` is the same in each
  // call.
  virtual void EmbedTexts(const Featurizer& featurizer,
                          std::span<const std::string_view> normalized_texts,
                          TowerInput& input, TowerScratch& scratch,
                          float* vectors) const {
    // Takes all texts as one batch: a tower embeds them block by block, and
    // CLSM sums each distinct word once.
    input.Clear();
    for (const std::string_view text : normalized_texts) {
      AppendText(featurizer, text, input);
    }
    Embed(input, scratch, vectors);
  }
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_NN_TOWER_H_
