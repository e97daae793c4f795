// One side of SSI's dense part: U q or V d of tf-idf words (SSI eq. 3, W = U'V
// + I). Vectors keep their length: SSI's score is a dot product.
#ifndef SEMRANK_MODEL_NN_SSI_TOWER_H_
#define SEMRANK_MODEL_NN_SSI_TOWER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "model/nn/tower.h"

namespace semrank {

// The rows of U and V that represent a word. Words are numbered by descending
// frequency.
//
//   all words                    row j is word j
//   n-constrained "(U'V)n"       row j is word j < n; other words have none
//                                (SSI 2.2)
//   correlated feature hashing   row j is word j < F. Each other word is the
//                                mean of the k frequent words S_1 .. S_k with
//                                the highest DICE coefficients (SSI 2.2.1). A
//                                word that occurs beside fewer has fewer; the
//                                missing ones count as zero vectors.
//   the same, same rank          eq. 6 and 7 as written: the p-th word of one
//                                side meets the p-th of the other alone,
//                                  W(s, t) = 1/k sum over p of
//                                            u(S_p(s))' v(S_p(t)),
//                                also of frequent words, with S_1(j) = j.
//   mixed                        both the first F words (as n-constrained, rows
//                                0 to F - 1) and correlated feature hashing
//                                (rows F to 2F - 1): W = (1 - a) U'V + a times
//                                the other one's (SSI 4). a is learned.
//
// A vector is num_blocks() blocks of the width of U, each the sum of the rows
// of one bag: the dot product of two vectors is then the sum of the blocks',
// which is what eq. 6 (a block for each p) and mixed parts need.
struct SsiRows {
  int num_words = 0;
  int num_rows = 0;  // of U and V
  // Correlated feature hashing: k, and row numbers as floats, -1 = none, for
  // each word from F on; with same_rank for each word. 0 without it. The floats
  // must outlive this.
  int top_k = 0;
  const float* correlated = nullptr;  // [words from F on or all, top_k]
  bool same_rank = false;
  // Mixed parts: the logit of a; null = one part. Must outlive this.
  const float* mixing = nullptr;

  // F, or n.
  int num_own_rows() const {
    return mixing == nullptr ? num_rows : num_rows / 2;
  }
  int num_blocks() const {
    return (mixing == nullptr ? 0 : 1) + (same_rank ? top_k : 1);
  }
  // Whether row j is word j for all words, so that bags need no translation.
  bool all_words() const { return top_k == 0 && num_rows == num_words; }

  // Appends the num_blocks() bags of rows of each text of `words`. A row may
  // occur more than once in a bag.
  void AppendRows(const BagBatch& words, BagBatch& rows) const;

 private:
  void AppendCorrelated(const BagView& words, float scale,
                        BagBatch& rows) const;
  void AppendSameRank(const BagView& words, float scale, BagBatch& rows) const;
};

// a of mixed parts: 1 / (1 + exp(-logit)), 0 to 1.
double MixingFactor(float logit);

class SsiTower : public Tower {
 public:
  struct Weights {
    const float* idf = nullptr;  // [rows.num_words]
    SsiRows rows;
    int dim = 0;                   // of a block; 0: vectors have no elements
    const float* table = nullptr;  // U' or V', [rows.num_rows, dim]
  };

  // Uses the weights in place; `storage`, which may be null, keeps them alive.
  // InvalidArgument when one is missing or a size makes no sense.
  static absl::StatusOr<std::unique_ptr<SsiTower>> Create(
      const Weights& weights, std::shared_ptr<const void> storage);

  int num_features() const override { return weights_.rows.num_words; }
  int embedding_dim() const override {
    return weights_.dim * weights_.rows.num_blocks();
  }
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
