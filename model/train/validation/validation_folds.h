// The two halves of what validates a model, for 2-fold cross-validation:
// settings are chosen on one half and measured on the other, and the other way
// round, as the papers do (DSSM 4.1, CLSM 5.1).
#ifndef SEMRANK_MODEL_TRAIN_VALIDATION_VALIDATION_FOLDS_H_
#define SEMRANK_MODEL_TRAIN_VALIDATION_VALIDATION_FOLDS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace semrank {

inline constexpr int kNumFolds = 2;

// A mean over the queries (loss: the pairs) of one half.
struct FoldScore {
  double score = 0;   // higher is better: NDCG@10, or the loss, negated
  double weight = 0;  // how many it is the mean of
  friend bool operator==(const FoldScore&, const FoldScore&) = default;
};

using FoldScores = std::array<FoldScore, kNumFolds>;

// The mean over both halves.
double Combine(const FoldScores& folds);

// Sums up the scores of both halves.
class FoldMeans {
 public:
  // `score` is a mean of `weight` queries or pairs of that half.
  void Add(int fold, double score, double weight) {
    sums_[fold] += score * weight;
    weights_[fold] += weight;
  }
  // Both want something in each half that they take the mean of.
  double All() const {
    return (sums_[0] + sums_[1]) / (weights_[0] + weights_[1]);
  }
  FoldScores Folds() const {
    return {{{sums_[0] / weights_[0], weights_[0]},
             {sums_[1] / weights_[1], weights_[1]}}};
  }

 private:
  std::array<double, kNumFolds> sums_ = {};
  std::array<double, kNumFolds> weights_ = {};
};

// The half, 0 or 1, of each of `count` things; as many in one as in the other,
// give or take one. Decided by the seed.
std::vector<std::uint8_t> DrawFolds(std::size_t count, std::uint64_t seed);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_VALIDATION_VALIDATION_FOLDS_H_
