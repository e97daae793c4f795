#include "model/nn/tfidf.h"

#include <cmath>
#include <cstdint>

namespace semrank {

void WeighTfIdf(const float* idf, int first, int last, BagBatch& bags) {
  for (int text = first; text < last; ++text) {
    const std::uint32_t begin = bags.offsets[text];
    const std::uint32_t end = bags.offsets[text + 1];
    // The sum is in double, as the norm of a long text is a sum of many
    // small squares.
    double squares = 0;
    for (std::uint32_t i = begin; i < end; ++i) {
      bags.counts[i] *= idf[bags.indices[i]];
      squares += static_cast<double>(bags.counts[i]) * bags.counts[i];
    }
    // No known word, or idf 0 for all of them: the zero vector has
    // no direction.
    if (squares == 0) continue;
    const double scale = 1 / std::sqrt(squares);
    for (std::uint32_t i = begin; i < end; ++i) {
      bags.counts[i] = static_cast<float>(bags.counts[i] * scale);
    }
  }
}

}  // namespace semrank
