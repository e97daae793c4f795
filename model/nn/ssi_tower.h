// One side of SSI's dense part: U q or V d of tf-idf words (SSI eq. 3, W = U'V
// + I). Vectors keep their length: SSI's score is a dot product.
#ifndef SEMRANK_MODEL_NN_SSI_TOWER_H_
#define SEMRANK_MODEL_NN_SSI_TOWER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "model/nn/tower.h"

namespace semrank {

// Which rows of U and V stand for a word. Words are numbered most frequent
// first.
//
//   all words                    row j is word j
//   n-constrained "(U'V)n"       row j is word j < n; other words have none
//                                (SSI 2.2)
//   correlated feature hashing   row j is word j < F. Each other word is the
//                                mean of the k frequent words with the highest
//                                DICE coefficients (SSI 2.2.1, eq. 6). A word
//                                that occurs beside fewer has fewer; the
//                                missing ones count as zero vectors.
//
//   Threads  const.
struct SsiRows {
  int num_words = 0;
  int num_rows = 0;  // of U and V
  // Correlated feature hashing: k, and for each word from num_rows on k row
  // numbers as floats, -1 = none. 0 without it. The floats must outlive this.
  int top_k = 0;
  const float* correlated = nullptr;  // [num_words - num_rows, top_k]

  // Whether row j is word j for all words, so that bags need no translation.
  bool all_words() const { return num_rows == num_words; }

  // Appends the bag of rows of each text of `words`. A row may occur more than
  // once in a bag.
  void AppendRows(const BagBatch& words, BagBatch& rows) const;
};

class SsiTower : public Tower {
 public:
  struct Weights {
    const float* idf = nullptr;  // [rows.num_words]
    SsiRows rows;
    int dim = 0;                   // 0: vectors have no elements
    const float* table = nullptr;  // U' or V', [rows.num_rows, dim]
  };

  // Uses the weights in place; `storage`, which may be null, keeps them alive.
  // InvalidArgument when one is missing or a size makes no sense.
  static absl::StatusOr<std::unique_ptr<SsiTower>> Create(
      const Weights& weights, std::shared_ptr<const void> storage);

  int num_features() const override { return weights_.rows.num_words; }
  int embedding_dim() const override { return weights_.dim; }
  void Embed(const TowerInput& input, TowerScratch& scratch,
             float* vectors) const override;

 private:
  SsiTower(const Weights& weights, std::shared_ptr<const void> storage)
      : weights_(weights), storage_(std::move(storage)) {}

  Weights weights_;
  std::shared_ptr<const void> storage_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_NN_SSI_TOWER_H_
