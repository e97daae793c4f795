// Hash kernels: the weight that a pair of words shares with others (SSI 2.2.1,
// h(s, t) = (s P + t) mod H).
#ifndef SEMRANK_MODEL_NN_PAIR_HASH_H_
#define SEMRANK_MODEL_NN_PAIR_HASH_H_

#include <cstdint>

namespace semrank {

// A prime near 2^32 / 1.618 (Knuth's multiplicative hashing): the multiples of
// it spread over any H, also a power of two. Part of the model format.
inline constexpr std::uint64_t kPairHashPrime = 2654435761;

// In [0, num_buckets) of query word s and document word t. Words are below
// 2^26, so nothing overflows.
inline std::uint32_t PairBucket(std::uint32_t query_word,
                                std::uint32_t document_word,
                                std::uint32_t num_buckets) {
  return static_cast<std::uint32_t>(
      (query_word * kPairHashPrime + document_word) % num_buckets);
}

}  // namespace semrank

#endif  // SEMRANK_MODEL_NN_PAIR_HASH_H_
