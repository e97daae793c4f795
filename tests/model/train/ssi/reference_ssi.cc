#include "tests/model/train/ssi/reference_ssi.h"

#include <algorithm>
#include <cmath>

#include "model/format/model_config.h"

namespace semrank {

ReferenceSsi::ReferenceSsi(const SsiWeights& weights, double margin,
                           Clicked clicked)
    : spec_(weights.spec), margin_(margin), clicked_(std::move(clicked)) {
  for (const TensorView& tensor : weights.Tensors()) {
    std::int64_t count = 1;
    for (const std::int64_t size : tensor.shape) count *= size;
    values_[tensor.name].assign(tensor.data, tensor.data + count);
  }
}

double ReferenceSsi::Loss(const MiniBatch& batch) const {
  double loss = 0;
  for (int i = 0; i < batch.num_pairs(); ++i) {
    std::vector<TextId> negatives;
    if (batch.all_titles) {
      for (int k = 0; k < batch.num_pairs(); ++k) {
        if (!clicked_.contains({batch.queries[i], batch.titles[k]})) {
          negatives.push_back(batch.titles[k]);
        }
      }
    } else {
      for (std::uint32_t c = batch.candidates.offsets[i] + 1;
           c < batch.candidates.offsets[i + 1]; ++c) {
        negatives.push_back(batch.titles[batch.candidates.indices[c]]);
      }
    }
    const double positive = Score(batch.queries[i], batch.titles[i]);
    for (const TextId negative : negatives) {
      loss += std::max(0.0,
                       margin_ - positive + Score(batch.queries[i], negative)) /
              static_cast<double>(negatives.size()) * batch.weight(i) /
              batch.total_weight();
    }
  }
  return loss;
}

double ReferenceSsi::Score(TextId query, TextId title) const {
  const std::vector<double> q = TfIdf(query), d = TfIdf(title);
  double score = 0;
  for (int s = 0; s < kNumWords; ++s) {
    for (int t = 0; t < kNumWords; ++t) score += q[s] * W(s, t) * d[t];
  }
  return score;
}

std::vector<double> ReferenceSsi::TfIdf(TextId text) const {
  std::vector<double> x(kNumWords);
  for (const char letter : " " + kTexts[text]) {
    const bool alone = kTexts[text].find("unknown") == std::string::npos;
    if (alone && letter != ' ') {
      x[letter - 'a'] += values_.at(kIdfTensor)[letter - 'a'];
    }
  }
  double squares = 0;
  for (const double value : x) squares += value * value;
  for (double& value : x) value /= squares > 0 ? std::sqrt(squares) : 1;
  return x;
}

double ReferenceSsi::Column(const std::string& table, int w, int dim) const {
  const auto num_rows = static_cast<int>(NumSsiRows(spec_, kNumWords));
  return w < num_rows ? values_.at(table)[w * kDim + dim] : 0;
}

double ReferenceSsi::ColumnOfRank(const std::string& table, int first_row,
                                  int w, int p, int dim) const {
  const auto top_k = static_cast<int>(spec_.correlated_top_k());
  const int first_word =
      kNumWords - static_cast<int>(NumCorrelatedWords(spec_, kNumWords));
  const auto row = static_cast<int>(
      values_.at(kCorrelatedTensor)[(w - first_word) * top_k + p]);
  return row < 0 ? 0 : values_.at(table)[(first_row + row) * kDim + dim];
}

std::string ReferenceSsi::DocumentTable() const {
  return spec_.variant() == v1::SSI_VARIANT_SYMMETRIC ? "query.0.weight"
                                                      : "document.0.weight";
}

double ReferenceSsi::FrequentPart(int s, int t) const {
  const auto num_frequent = static_cast<int>(spec_.num_frequent_words());
  double sum = 0;
  for (int d = 0; std::max(s, t) < num_frequent && d < kDim; ++d) {
    sum += values_.at("query.0.weight")[s * kDim + d] *
           values_.at(DocumentTable())[t * kDim + d];
  }
  return sum;
}

double ReferenceSsi::CorrelatedPart(int s, int t) const {
  const auto top_k = static_cast<int>(spec_.correlated_top_k());
  const auto num_frequent = static_cast<int>(spec_.num_frequent_words());
  const int first = spec_.mixes_parts() ? num_frequent : 0;
  double sum = 0;
  for (int d = 0; d < kDim; ++d) {
    if (PairsSameRank(spec_)) {
      for (int p = 0; p < top_k; ++p) {
        sum += ColumnOfRank("query.0.weight", first, s, p, d) *
               ColumnOfRank(DocumentTable(), first, t, p, d) / top_k;
      }
      continue;
    }
    const auto mean = [&](const std::string& table, int w) {
      if (w < num_frequent) return values_.at(table)[(first + w) * kDim + d];
      double columns = 0;
      for (int p = 0; p < top_k; ++p) {
        columns += ColumnOfRank(table, first, w, p, d) / top_k;
      }
      return columns;
    };
    sum += mean("query.0.weight", s) * mean(DocumentTable(), t);
  }
  return sum;
}

double ReferenceSsi::W(int s, int t) const {
  const v1::SsiVariant variant = spec_.variant();
  if (variant == v1::SSI_VARIANT_DIAGONAL) {
    return s == t ? values_.at(kDiagonalTensor)[s] : 0;
  }
  const bool has_identity = variant != v1::SSI_VARIANT_LOW_RANK_NO_IDENTITY &&
                            variant != v1::SSI_VARIANT_FULL_NO_IDENTITY;
  const double identity = has_identity && s == t ? 1 : 0;
  if (spec_.pair_hash_buckets() > 0) {
    const std::uint64_t bucket =
        (s * std::uint64_t{2654435761} + t) % spec_.pair_hash_buckets();
    return identity + values_.at(kPairWeightsTensor)[bucket];
  }
  if (variant == v1::SSI_VARIANT_FULL) {
    return values_.at(kMatrixTensor)[s * kNumWords + t];
  }
  if (spec_.mixes_parts()) {
    const double factor = 1 / (1 + std::exp(-values_.at(kMixingTensor)[0]));
    return identity + (1 - factor) * FrequentPart(s, t) +
           factor * CorrelatedPart(s, t);
  }
  if (spec_.correlated_top_k() > 0) return identity + CorrelatedPart(s, t);
  double sum = identity;
  for (int d = 0; d < kDim; ++d) {
    sum += Column("query.0.weight", s, d) * Column(DocumentTable(), t, d);
  }
  return sum;
}

}  // namespace semrank
