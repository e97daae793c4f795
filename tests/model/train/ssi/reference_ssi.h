// SSI's score and loss in plain double precision, straight from the paper, over
// texts of eight words: what the trainer's gradients are differenced against.
#ifndef SEMRANK_TESTS_MODEL_TRAIN_SSI_REFERENCE_SSI_H_
#define SEMRANK_TESTS_MODEL_TRAIN_SSI_REFERENCE_SSI_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/train/batches/mini_batch.h"
#include "model/train/ssi/ssi_weights.h"

namespace semrank {

inline constexpr int kNumWords = 8;
inline constexpr int kDim = 3;
inline const std::vector<std::string> kWords = {"a", "b", "c", "d",
                                                "e", "f", "g", "h"};

// By their numbers. Text 7 is a query and a title; "unknown" is not a word.
inline const std::vector<std::string> kTexts = {
    "a b",   "c",     "b b b d", "e f a", "unknown", "h a",    "g g",
    "a c e", "a b c", "d",       "f f g", "h",       "b e h h"};

// Tensors by name.
using Values = std::map<std::string, std::vector<double>>;

// With W made whole.
class ReferenceSsi {
 public:
  using Clicked = std::set<std::pair<TextId, TextId>>;

  // `clicked`: each (query, title) of the click log, of which the batch is a
  // part; the title is not a negative of the query.
  ReferenceSsi(const SsiWeights& weights, double margin, Clicked clicked = {});

  Values& values() { return values_; }

  double Loss(const MiniBatch& batch) const;
  double Score(TextId query, TextId title) const;
  std::vector<double> TfIdf(TextId text) const;
  // Dimension `dim` of word `w` in U or V without correlated words.
  double Column(const std::string& table, int w, int dim) const;
  // The same of the word that is the p-th for `w` (eq. 7), from `first_row` on.
  double ColumnOfRank(const std::string& table, int first_row, int w, int p,
                      int dim) const;

 private:
  double W(int s, int t) const;
  // (U'V)(s, t) of the frequent words alone, and with correlated ones.
  double FrequentPart(int s, int t) const;
  double CorrelatedPart(int s, int t) const;
  std::string DocumentTable() const;

  v1::SsiSpec spec_;
  double margin_;
  Clicked clicked_;
  Values values_;
};

}  // namespace semrank

#endif  // SEMRANK_TESTS_MODEL_TRAIN_SSI_REFERENCE_SSI_H_
