// Random inputs for the tests of model/nn; the same in every run.
#ifndef SEMRANK_TESTS_MODEL_NN_RANDOM_VALUES_H_
#define SEMRANK_TESTS_MODEL_NN_RANDOM_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "model/text/featurizer.h"

namespace semrank {

// Uniform in [-1, 1).
inline std::vector<float> RandomValues(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  std::vector<float> values(count);
  for (float& value : values) value = uniform(random);
  return values;
}

// Bags of 0 to 12 entries, counts 1 to 3.
inline BagBatch RandomBags(int num_texts, int num_features, unsigned seed) {
  std::mt19937 random(seed);
  BagBatch batch;
  for (int t = 0; t < num_texts; ++t) {
    std::uint32_t index = random() % 5;
    for (unsigned n = random() % 13; n > 0; --n) {
      if (index >= static_cast<std::uint32_t>(num_features)) break;
      batch.indices.push_back(index);
      batch.counts.push_back(static_cast<float>(1 + random() % 3));
      index += 1 + random() % 7;
    }
    batch.offsets.push_back(static_cast<std::uint32_t>(batch.indices.size()));
  }
  return batch;
}

// Text t of a batch as a batch of its own.
inline BagBatch OneBag(const BagBatch& batch, int t) {
  const auto begin = static_cast<std::ptrdiff_t>(batch.offsets[t]);
  const auto end = static_cast<std::ptrdiff_t>(batch.offsets[t + 1]);
  BagBatch one;
  one.indices.assign(batch.indices.begin() + begin,
                     batch.indices.begin() + end);
  one.counts.assign(batch.counts.begin() + begin, batch.counts.begin() + end);
  one.offsets.push_back(static_cast<std::uint32_t>(one.indices.size()));
  return one;
}

}  // namespace semrank

#endif  // SEMRANK_TESTS_MODEL_NN_RANDOM_VALUES_H_
