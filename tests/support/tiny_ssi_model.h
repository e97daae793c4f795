// An SSI model of random weights, small enough to build in every test, and its
// score written down from the paper in double precision.
#ifndef SEMRANK_TESTS_SUPPORT_TINY_SSI_MODEL_H_
#define SEMRANK_TESTS_SUPPORT_TINY_SSI_MODEL_H_

#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/format/model_bundle.h"
#include "model/nn/two_tower_model.h"

namespace semrank {

struct TinySsiOptions {
  v1::SsiVariant variant = v1::SSI_VARIANT_LOW_RANK;
  std::uint32_t num_dense_words = 0;
  std::uint32_t pair_hash_buckets = 0;
  std::uint32_t num_frequent_words = 0;
  std::uint32_t correlated_top_k = 0;
  v1::CorrelatedPairing correlated_pairing = v1::CORRELATED_PAIRING_UNSPECIFIED;
  bool mixes_parts = false;
  // The last of the kNumWords words; 0 or 2.
  std::uint32_t num_bigrams = 0;
};

// One of every kind, with a name for test suites.
struct TinySsiCase {
  std::string name;
  TinySsiOptions options;
};
std::vector<TinySsiCase> AllTinySsiCases();

class TinySsiModel {
 public:
  static constexpr int kNumWords = 12;

  explicit TinySsiModel(const TinySsiOptions& options = {});
  TinySsiModel(const TinySsiModel&) = delete;
  TinySsiModel& operator=(const TinySsiModel&) = delete;

  // Tests change it; its tensors point into storage().
  ModelBundle& bundle() { return bundle_; }
  std::vector<float>& values(std::string_view tensor);
  // Uses the values in place.
  std::shared_ptr<const TwoTowerModel> model() const;

  // q'Wd of two normalised texts, W made whole.
  double Score(const std::string& query, const std::string& title) const;

  // Texts of known, unknown and repeated words, and of none.
  static std::vector<std::string> Texts();

 private:
  using DoubleMatrix = std::vector<std::vector<double>>;

  const float* Find(std::string_view tensor) const;
  std::vector<double> TfIdf(const std::string& text) const;
  DoubleMatrix WholeW() const;
  // U or V with a column for every word, as rows [word][dimension], and what
  // rows from `first_row` on make of it: `rank` -1 is a word as it stands, rare
  // ones as the mean of others; from 0 on S_p of eq. 7.
  DoubleMatrix ColumnsOf(std::string_view tensor, int first_row,
                         int rank) const;

  Featurizer featurizer_;
  std::list<std::vector<float>> storage_;
  ModelBundle bundle_;
};

}  // namespace semrank

#endif  // SEMRANK_TESTS_SUPPORT_TINY_SSI_MODEL_H_
