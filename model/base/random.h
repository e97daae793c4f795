// Random numbers that are the same on every machine and with every standard
// library (the distributions of <random> are not). SplitMix64 (Steele, Lea and
// Flood, 2014): one addition and one mix per number; every state is good.
//
//   Threads  not thread-safe. Draws in several threads, or that must be
//            repeatable, use streams of their own, numbered by purpose, never
//            by thread.
#ifndef SEMRANK_MODEL_BASE_RANDOM_H_
#define SEMRANK_MODEL_BASE_RANDOM_H_

#include <cstdint>
#include <utility>
#include <vector>

namespace semrank {

// What a stream of random numbers is for. The values are part of the meaning of
// a seed: they never change.
enum class RandomPurpose : std::uint64_t {
  kQueryWeights = 1,
  kDocumentWeights = 2,
  kHeldOutQueries = 3,
  kPairOrder = 4,
  kNegatives = 5,
  kValidationNegatives = 6,
  kDropout = 7,
  kBlockOrder = 8,
  kTextHash = 9,
  kQueryTypos = 10,
  kLexicalFit = 11,
  kExaminationBootstrap = 12,
  kInterleavingBootstrap = 13,
  kServing = 14,
};

class Random {
 public:
  // Streams of different seed, purpose, index or part are independent.
  Random(std::uint64_t seed, RandomPurpose purpose, std::uint64_t index = 0,
         std::uint64_t part = 0);

  std::uint64_t Next();
  // Uniform in [0, bound); bound >= 1.
  std::uint32_t Below(std::uint32_t bound);
  // Uniform between low and high, in steps of 2^-24 of the range.
  float Between(float low, float high);

 private:
  std::uint64_t state_;
};

// Shuffles `values`; every order is equally likely.
template <typename T>
void Shuffle(Random& random, std::vector<T>& values) {
  for (std::size_t i = values.size(); i > 1; --i) {
    const std::uint32_t j = random.Below(static_cast<std::uint32_t>(i));
    std::swap(values[i - 1], values[j]);
  }
}

}  // namespace semrank

#endif  // SEMRANK_MODEL_BASE_RANDOM_H_
