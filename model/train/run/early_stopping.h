// When a run stops because its validation gets no better.
#ifndef SEMRANK_MODEL_TRAIN_RUN_EARLY_STOPPING_H_
#define SEMRANK_MODEL_TRAIN_RUN_EARLY_STOPPING_H_

#include <cmath>

namespace semrank {

// Remembers the best epoch, and decides when to stop waiting for a better one.
class EarlyStopping {
 public:
  // `patience`: epochs without improvement before the end; 0 = never stops.
  explicit EarlyStopping(int patience) : patience_(patience) {}

  // The score of the next epoch; higher is better. True if it is the best so
  // far; of equal scores the first is. NaN, of weights that diverged, never is.
  bool Add(double score) {
    ++num_epochs_;
    if (std::isnan(score)) return false;
    if (best_epoch_ > 0 && score <= best_score_) return false;
    best_epoch_ = num_epochs_;
    best_score_ = score;
    return true;
  }

  // The first epoch is 1; 0 without one.
  int best_epoch() const { return best_epoch_; }
  bool ShouldStop() const {
    return patience_ > 0 && num_epochs_ - best_epoch_ >= patience_;
  }

 private:
  int patience_;
  int num_epochs_ = 0;
  int best_epoch_ = 0;
  double best_score_ = 0;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_RUN_EARLY_STOPPING_H_
