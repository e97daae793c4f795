// Remembers the best epoch and says when waiting for a better one is over.
#ifndef SEMRANK_MODEL_TRAIN_VALIDATION_EARLY_STOPPING_H_
#define SEMRANK_MODEL_TRAIN_VALIDATION_EARLY_STOPPING_H_

namespace semrank {

class EarlyStopping {
 public:
  // `patience`: epochs without improvement before the end; 0 = no end.
  explicit EarlyStopping(int patience) : patience_(patience) {}

  // The score of one more epoch; higher is better. True if it is the best so
  // far: of equal ones the first is.
  bool Add(double score) {
    ++num_epochs_;
    if (best_epoch_ > 0 && score <= best_score_) return false;
    best_epoch_ = num_epochs_;
    best_score_ = score;
    return true;
  }

  // Counted from 1; 0 before the first.
  int best_epoch() const { return best_epoch_; }
  int num_epochs() const { return num_epochs_; }
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

#endif  // SEMRANK_MODEL_TRAIN_VALIDATION_EARLY_STOPPING_H_
