#include "model/train/softmax_loss.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "model/nn/kernels.h"
#include "model/train/softmax.h"
#include "model/train/work_list.h"

namespace semrank {
namespace {

constexpr int kBlockRows = 48;

// Cosines of pair i with all titles to logits. Leaves out equal titles, the
// clicked one among them, and those of equal queries. (Selections instead of
// || and nothing read through members let the compiler make vectors of it.)
void ComputeLogits(const MiniBatch& batch, int i, float gamma,
                   std::span<float> row) {
  const TextId* queries = batch.queries.data();
  const TextId* titles = batch.titles.data();
  const TextId query = queries[i], title = titles[i];
  for (std::size_t k = 0; k < row.size(); ++k) {
    float logit = gamma * row[k];
    logit = queries[k] == query ? kLeftOut : logit;
    row[k] = titles[k] == title ? kLeftOut : logit;
  }
}

int LargestBag(const BagBatch& bags) {
  std::uint32_t largest = 0;
  for (int i = 0; i < bags.num_texts(); ++i) {
    largest = std::max(largest, bags.offsets[i + 1] - bags.offsets[i]);
  }
  return static_cast<int>(largest);
}

StridedMatrix Rows(const float* data, int rows, int columns) {
  return {data, rows, columns, columns, 1};
}

}  // namespace

double SoftmaxLoss::Compute(const LossInput& input,
                            const LossGradients& gradients, ThreadPool& pool) {
  losses_.resize(input.batch.num_pairs());
  total_weight_ = input.batch.total_weight();
  if (input.batch.all_titles) {
    ScoreAllTitles(input, gradients, pool);
  } else {
    ScoreCandidates(input, gradients, pool);
  }
  double sum = 0;
  for (int i = 0; i < input.batch.num_pairs(); ++i) {
    sum += input.batch.weight(i) * losses_[i];
  }
  return sum / total_weight_;
}

// Three products: scores S = Q D^T, then with G = dloss/dS the gradients
// dloss/dQ = G D and dloss/dD = G^T Q.
void SoftmaxLoss::ScoreAllTitles(const LossInput& input,
                                 const LossGradients& gradients,
                                 ThreadPool& pool) {
  const int n = input.batch.num_pairs();
  const StridedMatrix queries = Rows(input.query_vectors, n, dim_);
  const StridedMatrix titles = Rows(input.title_vectors, n, dim_);
  const bool with_gradients = gradients.queries != nullptr;
  weights_ = input.batch.candidates;
  weights_.counts.resize(weights_.indices.size());
  const bool has_candidates = weights_.num_texts() > 0;
  stride_ = n + LargestBag(weights_);
  scores_.resize(static_cast<std::size_t>(n) * stride_);

  WorkList work;
  work.Add(1, [&](int, int) { titles_transposed_.Pack(titles.Transposed()); });
  if (with_gradients) {
    work.Add(1, [&](int, int) { titles_.Pack(titles); });
    work.Add(1, [&](int, int) { queries_.Pack(queries); });
  }
  work.Run(pool);

  work.AddBlocks(n, kBlockRows, [&](int first, int last, int) {
    ScoreRows(input, first, last);
    if (!with_gradients) return;
    float* rows = gradients.queries + static_cast<std::size_t>(first) * dim_;
    if (has_candidates) {
      SumBags(weights_, first, last, input.title_vectors, dim_, rows);
    }
    const float* factors = &scores_[static_cast<std::size_t>(first) * stride_];
    Multiply({factors, last - first, n, stride_, 1}, titles_,
             {.accumulate = has_candidates}, rows, dim_);
  });
  work.Run(pool);
  if (!with_gradients) return;

  if (has_candidates) {
    std::fill_n(gradients.titles, static_cast<std::size_t>(n) * dim_, 0.0f);
    AddCandidateGradients(input, gradients.titles, work);
    work.Run(pool);
  }
  work.AddBlocks(n, kBlockRows, [&](int first, int last, int) {
    const StridedMatrix factors = {&scores_[first], last - first, n, 1,
                                   stride_};
    Multiply(factors, queries_, {.accumulate = has_candidates},
             gradients.titles + static_cast<std::size_t>(first) * dim_, dim_);
  });
  work.Run(pool);
}

// From a probability of pair i to dloss/dscore.
float SoftmaxLoss::Scale(const MiniBatch& batch, int pair) const {
  return gamma_ * batch.weight(pair) / static_cast<float>(total_weight_);
}

// Rows [first, last) of the scores, turned into dloss/dscore.
void SoftmaxLoss::ScoreRows(const LossInput& input, int first, int last) {
  const MiniBatch& batch = input.batch;
  const int n = batch.num_pairs();
  float* rows = &scores_[static_cast<std::size_t>(first) * stride_];
  Multiply(Rows(input.query_vectors + static_cast<std::size_t>(first) * dim_,
                last - first, dim_),
           titles_transposed_, {}, rows, stride_);
  for (int i = first; i < last; ++i) {
    float* begin = rows + static_cast<std::size_t>(i - first) * stride_;
    const std::span<float> extra = CandidateWeights(i);
    const std::span<float> row(begin, n + extra.size());
    const float positive_logit = gamma_ * row[i];
    ComputeLogits(batch, i, gamma_, row.first(n));
    ComputeCandidateLogits(input, i, begin + n);
    const SoftmaxResult result = SoftmaxNegatives(positive_logit, row);
    losses_[i] = result.loss;
    const float scale = Scale(batch, i);
    for (float& value : row) value *= scale;
    row[i] = -scale * result.negative_probability;
    std::copy(row.begin() + n, row.end(), extra.begin());
  }
}

// Gradients are sums of rows: of title vectors for a query, and of query
// vectors for a title, over the pairs that it is a candidate of.
void SoftmaxLoss::ScoreCandidates(const LossInput& input,
                                  const LossGradients& gradients,
                                  ThreadPool& pool) {
  const MiniBatch& batch = input.batch;
  const bool with_gradients = gradients.queries != nullptr;
  weights_ = batch.candidates;
  weights_.counts.resize(weights_.indices.size());

  WorkList work;
  work.AddBlocks(batch.num_pairs(), kBlockRows, [&](int first, int last, int) {
    for (int i = first; i < last; ++i) ScorePair(input, i);
    if (!with_gradients) return;
    SumBags(weights_, first, last, input.title_vectors, dim_,
            gradients.queries + static_cast<std::size_t>(first) * dim_);
  });
  work.Run(pool);
  if (!with_gradients) return;

  // Every title of the batch is a candidate of some pair, so each gets its row.
  AddCandidateGradients(input, gradients.titles, work);
  work.Run(pool);
}

// Sets the rows of the titles that are candidates.
void SoftmaxLoss::AddCandidateGradients(const LossInput& input,
                                        float* title_gradients,
                                        WorkList& work) {
  by_title_.Build(weights_, static_cast<int>(input.batch.titles.size()));
  const std::vector<std::uint32_t>& titles = by_title_.features();
  work.AddBlocks(static_cast<int>(titles.size()), kBlockRows,
                 [=, this, &titles](int first, int last, int) {
                   for (int t = first; t < last; ++t) {
                     const std::size_t title = titles[t];
                     SumBags(by_title_.texts(), t, t + 1, input.query_vectors,
                             dim_, title_gradients + title * dim_);
                   }
                 });
}

// Of pair `pair` in weights_; none when the batch has no candidates.
std::span<float> SoftmaxLoss::CandidateWeights(int pair) {
  if (weights_.num_texts() == 0) return {};
  const std::uint32_t begin = weights_.offsets[pair];
  return {weights_.counts.data() + begin, weights_.offsets[pair + 1] - begin};
}

void SoftmaxLoss::ComputeCandidateLogits(const LossInput& input, int pair,
                                         float* logits) {
  const std::size_t size = CandidateWeights(pair).size();
  const float* query =
      input.query_vectors + static_cast<std::size_t>(pair) * dim_;
  for (std::size_t j = 0; j < size; ++j) {
    const std::size_t title = weights_.indices[weights_.offsets[pair] + j];
    logits[j] = gamma_ * Dot(query, input.title_vectors + title * dim_, dim_);
  }
}

void SoftmaxLoss::ScorePair(const LossInput& input, int pair) {
  const std::span<float> logits = CandidateWeights(pair);
  ComputeCandidateLogits(input, pair, logits.data());
  const SoftmaxResult result = SoftmaxNegatives(logits[0], logits.subspan(1));
  losses_[pair] = result.loss;
  const float scale = Scale(input.batch, pair);
  for (float& value : logits) value *= scale;
  logits[0] = -scale * result.negative_probability;
}

}  // namespace semrank
