#include "model/train/validation/validation_folds.h"

#include "model/base/random.h"

namespace semrank {

double Combine(const FoldScores& folds) {
  double sum = 0, weight = 0;
  for (const FoldScore& fold : folds) {
    sum += fold.score * fold.weight;
    weight += fold.weight;
  }
  return sum / weight;
}

std::vector<std::uint8_t> DrawFolds(std::size_t count, std::uint64_t seed) {
  std::vector<std::uint8_t> folds(count);
  for (std::size_t i = 0; i < count; ++i) {
    folds[i] = static_cast<std::uint8_t>(i % kNumFolds);
  }
  // Stream 0 decides which queries are held out; this one halves them.
  Random random(seed, RandomPurpose::kHeldOutQueries, /*index=*/1);
  Shuffle(random, folds);
  return folds;
}

}  // namespace semrank
