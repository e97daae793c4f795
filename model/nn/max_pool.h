// The pooling of CLSM, over word windows that are never built: row w of `sums`
// holds, for each place p of a window, what word w adds there (its bag times
// the rows of the convolution matrix for that place).
//
//   Shapes   sums [num_words, window, width]; padded: the words of a text of T
//            words with window / 2 paddings on each side, T + window - 1
//            elements, T >= 1; window t is padded[t, t + window), and its
//            middle is word t of the text.
//   Order    a window is summed from its first place to its last, so a unit
//            depends on its text alone.
//   Threads  thread-safe on disjoint outputs.
#ifndef SEMRANK_MODEL_NN_MAX_POOL_H_
#define SEMRANK_MODEL_NN_MAX_POOL_H_

#include <cstdint>
#include <span>

namespace semrank {

// maxima[i] = max over t of sum over p of sums[padded[t + p], p, i] (CLSM eq. 2
// and 3.4, before bias and tanh: both are monotonic, so they may follow the
// maximum). A NaN in any window stays. winners[i], if not null: the first t
// with the maximum (appendix, eq. 15). Both have `width` elements.
void MaxPoolWindows(const float* sums, std::span<const std::uint32_t> padded,
                    int window, int width, float* maxima,
                    std::int32_t* winners = nullptr);

}  // namespace semrank

#endif  // SEMRANK_MODEL_NN_MAX_POOL_H_
