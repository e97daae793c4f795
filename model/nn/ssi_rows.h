// Which rows of SSI's U and V stand for a word. Words are numbered most
// frequent first.
//
//   all words        row j is word j
//   n-constrained    row j is word j < n; other words have none (SSI 2.2,
//   "(U'V)
//                    n")
//   correlated       row j is word j < F; each other word is the mean of k
//   feature hashing  frequent words, those with the highest DICE coefficients
//                    (SSI 2.2.1, eq. 6); fewer when it occurs beside fewer, and
//                    then the missing ones are zero
//
//   Threads  const.
#ifndef SEMRANK_MODEL_NN_SSI_ROWS_H_
#define SEMRANK_MODEL_NN_SSI_ROWS_H_

#include "model/text/featurizer.h"

namespace semrank {

struct SsiRows {
  int num_words = 0;
  int num_rows = 0;  // of U and V
  // Correlated feature hashing, else 0: k, and for each word from num_rows on k
  // rows as whole numbers; -1 = none. The floats outlive this.
  int top_k = 0;
  const float* correlated = nullptr;  // [num_words - num_rows, top_k]

  // True when words and rows are the same, so that bags need no translation.
  bool all_words() const { return num_rows == num_words; }

  // Appends the bag of rows of each text of `words`. A row may occur more than
  // once in a bag.
  void AppendRows(const BagBatch& words, BagBatch& rows) const;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_NN_SSI_ROWS_H_
