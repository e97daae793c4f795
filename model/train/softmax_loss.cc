#include "model/train/softmax_loss.h"

#include <cstddef>
#include <cstdint>
#include <span>

#include "model/nn/kernels.h"
#include "model/train/softmax.h"
#include "model/train/work_list.h"

namespace semrank {
namespace {

constexpr int kBlockRows = 64;

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
  scores_.resize(static_cast<std::size_t>(n) * n);

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
    const float* factors = &scores_[static_cast<std::size_t>(first) * n];
    Multiply(Rows(factors, last - first, n), titles_, {},
             gradients.queries + static_cast<std::size_t>(first) * dim_, dim_);
  });
  work.Run(pool);
  if (!with_gradients) return;

  work.AddBlocks(n, kBlockRows, [&](int first, int last, int) {
    const StridedMatrix factors = {&scores_[first], last - first, n, 1, n};
    Multiply(factors, queries_, {},
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
  float* rows = &scores_[static_cast<std::size_t>(first) * n];
  Multiply(Rows(input.query_vectors + static_cast<std::size_t>(first) * dim_,
                last - first, dim_),
           titles_transposed_, {}, rows, n);
  for (int i = first; i < last; ++i) {
    const std::span<float> row(rows + static_cast<std::size_t>(i - first) * n,
                               n);
    const float positive_logit = gamma_ * row[i];
    ComputeLogits(batch, i, gamma_, row);
    const SoftmaxResult result = SoftmaxNegatives(positive_logit, row);
    losses_[i] = result.loss;
    const float scale = Scale(batch, i);
    for (float& value : row) value *= scale;
    row[i] = -scale * result.negative_probability;
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
  by_title_.Build(weights_, static_cast<int>(batch.titles.size()));
  const std::vector<std::uint32_t>& titles = by_title_.features();
  work.AddBlocks(static_cast<int>(titles.size()), kBlockRows,
                 [&](int first, int last, int) {
                   for (int t = first; t < last; ++t) {
                     const std::size_t title = titles[t];
                     SumBags(by_title_.texts(), t, t + 1, input.query_vectors,
                             dim_, gradients.titles + title * dim_);
                   }
                 });
  work.Run(pool);
}

void SoftmaxLoss::ScorePair(const LossInput& input, int pair) {
  const float* query =
      input.query_vectors + static_cast<std::size_t>(pair) * dim_;
  const std::uint32_t begin = weights_.offsets[pair];
  const std::span<float> logits(weights_.counts.data() + begin,
                                weights_.offsets[pair + 1] - begin);
  for (std::size_t j = 0; j < logits.size(); ++j) {
    const std::size_t title = weights_.indices[begin + j];
    logits[j] = gamma_ * Dot(query, input.title_vectors + title * dim_, dim_);
  }
  const SoftmaxResult result = SoftmaxNegatives(logits[0], logits.subspan(1));
  losses_[pair] = result.loss;
  const float scale = Scale(input.batch, pair);
  for (float& value : logits) value *= scale;
  logits[0] = -scale * result.negative_probability;
}

}  // namespace semrank
