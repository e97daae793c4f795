#include "model/train/towers/softmax_loss.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "model/nn/kernels.h"
#include "model/train/batches/bag_transpose.h"
#include "model/train/towers/training_kernels.h"

namespace semrank {
namespace {

constexpr int kBlockRows = 96;

// Turns the cosines of a query with the first titles of the batch into logits.
void ComputeLogits(const MiniBatch& batch, float gamma, std::span<float> row) {
  for (float& value : row) value *= gamma;
  if (batch.corrections.empty()) return;
  for (std::size_t k = 0; k < row.size(); ++k) row[k] -= batch.corrections[k];
}

int LargestBag(const BagBatch& bags) {
  std::size_t largest = 0;
  for (int i = 0; i < bags.num_texts(); ++i) {
    largest = std::max(largest, bags.size(i));
  }
  return static_cast<int>(largest);
}

// Floats from one row of scores to the next: an odd number of cache lines. The
// gradients of titles read a column, and rows that are a power of two apart
// share one set of the cache.
int StrideOf(int columns) {
  constexpr int kLineFloats = 16;
  return ((columns + kLineFloats - 1) / kLineFloats | 1) * kLineFloats;
}

StridedMatrix Rows(const float* data, int rows, int columns) {
  return {data, rows, columns, columns, 1};
}

}  // namespace

double SoftmaxLoss::Compute(const LossInput& input,
                            const LossGradients& gradients, ThreadPool& pool) {
  TaskGraph graph;
  AddStages(input, gradients, {}, graph);
  pool.Run(graph);
  return MeanLoss();
}

// A title's gradient is a sum over the pairs that it is a candidate of, so it
// waits for the scores of all pairs.
SideStages SoftmaxLoss::AddStages(const LossInput& input,
                                  const LossGradients& gradients,
                                  const SideStages& vectors, TaskGraph& graph) {
  Begin(input, gradients);
  const auto titles_packed = graph.Add(
      vectors.titles, [this](TaskList& tasks) { AddTitlePackTasks(tasks); });
  TaskGraph::Stages needs = vectors.queries;
  needs.push_back(titles_packed);
  const auto scored = graph.Add(needs, [this](TaskList& tasks) {
    tasks.AddBlocks(
        input_.batch->num_pairs(), kBlockRows,
        [this](int first, int last, int) { ScorePairs(first, last); });
  });
  if (gradients.titles == nullptr) return {};
  const auto transposed = graph.Add({scored}, [this](TaskList& tasks) {
    tasks.Add(has_candidates() ? 1 : 0, [this](int, int) {
      TransposeBags(weights_, input_.batch->num_titles(), by_title_);
    });
  });
  const auto queries_packed = graph.Add(
      vectors.queries, [this](TaskList& tasks) { AddQueryPackTasks(tasks); });
  needs = {transposed, queries_packed};
  const auto summed = graph.Add(needs, [this](TaskList& tasks) {
    tasks.AddBlocks(
        input_.batch->num_titles(), kBlockRows,
        [this](int first, int last, int) { TitleGradients(first, last); });
  });
  return {.queries = {scored}, .titles = {summed}};
}

void SoftmaxLoss::Begin(const LossInput& input,
                        const LossGradients& gradients) {
  input_ = input;
  gradients_ = gradients;
  const MiniBatch& batch = *input.batch;
  losses_.resize(batch.num_pairs());
  total_weight_ = batch.total_weight();
  weights_ = batch.candidates;
  weights_.counts.resize(weights_.indices.size());
  if (!batch.all_titles) return;
  stride_ = StrideOf(batch.num_pairs() + LargestBag(weights_));
  scores_.resize(batch.queries.size() * stride_);
}

void SoftmaxLoss::AddTitlePackTasks(TaskList& tasks) {
  if (!input_.batch->all_titles) return;
  const StridedMatrix titles =
      Rows(input_.title_vectors, input_.batch->num_pairs(), dim_);
  tasks.Add(
      1, [=, this](int, int) { titles_transposed_.Pack(titles.Transposed()); });
  if (gradients_.titles == nullptr) return;
  tasks.Add(1, [=, this](int, int) { titles_.Pack(titles); });
}

void SoftmaxLoss::AddQueryPackTasks(TaskList& tasks) {
  if (!input_.batch->all_titles || gradients_.queries == nullptr) return;
  tasks.Add(1, [this](int, int) {
    queries_.Pack(Rows(input_.query_vectors, input_.batch->num_pairs(), dim_));
  });
}

void SoftmaxLoss::ScorePairs(int first, int last) {
  if (input_.batch->all_titles) {
    ScoreAllTitles(first, last);
  } else {
    for (int i = first; i < last; ++i) ScoreCandidates(i);
  }
  if (gradients_.queries != nullptr) QueryGradients(first, last);
}

double SoftmaxLoss::MeanLoss() const {
  double sum = 0;
  // The sum goes pair by pair, in double: the blocks finish in any order, which
  // must not change it.
  for (int i = 0; i < input_.batch->num_pairs(); ++i) {
    sum += input_.batch->weight(i) * losses_[i];
  }
  return sum / total_weight_;
}

// The factor from a probability of pair i to dloss/dscore.
float SoftmaxLoss::Scale(int pair) const {
  // dloss/dR(Q, D-) = gamma P(D- | Q) and dloss/dR(Q, D+) = -gamma (1 - P(D+ |
  // Q)) (eq. 12-14), times the pair's part of the mean.
  return gamma_ * input_.batch->weight(pair) /
         static_cast<float>(total_weight_);
}

// Rows [first, last) of the scores S = Q D^T, then of G = dloss/dS.
void SoftmaxLoss::ScoreAllTitles(int first, int last) {
  const MiniBatch& batch = *input_.batch;
  const int n = batch.num_pairs();
  float* rows = &scores_[static_cast<std::size_t>(first) * stride_];
  Multiply(Rows(input_.query_vectors + static_cast<std::size_t>(first) * dim_,
                last - first, dim_),
           titles_transposed_, {}, rows, stride_);
  for (int i = first; i < last; ++i) {
    float* begin = rows + static_cast<std::size_t>(i - first) * stride_;
    const std::span<float> extra = CandidateWeights(i);
    const std::span<float> row(begin, n + extra.size());
    ComputeLogits(batch, gamma_, row.first(n));
    ComputeCandidateLogits(i, begin + n);
    // The clicked title's score is read before it is masked: SoftmaxNegatives
    // takes negatives only, and no title that was clicked for the query is one.
    const float positive_logit = row[i];
    // The pair's own title is among them.
    for (const std::uint32_t k : batch.MaskedFor(i)) row[k] = kLeftOut;
    const SoftmaxResult result = SoftmaxNegatives(positive_logit, row);
    losses_[i] = result.loss;
    const float scale = Scale(i);
    for (float& value : row) value *= scale;
    // The masked probabilities are exactly 0, so no gradient reaches other
    // clicked titles; this one gets its own.
    row[i] = -scale * result.negative_probability;
    std::copy(row.begin() + n, row.end(), extra.begin());
  }
}

// dloss/dQ = G D, and sums of the vectors of candidates.
void SoftmaxLoss::QueryGradients(int first, int last) {
  float* rows = gradients_.queries + static_cast<std::size_t>(first) * dim_;
  if (has_candidates()) {
    SumBags(weights_, first, last, input_.title_vectors, dim_, rows);
  }
  if (!input_.batch->all_titles) return;
  const float* factors = &scores_[static_cast<std::size_t>(first) * stride_];
  Multiply({factors, last - first, input_.batch->num_pairs(), stride_, 1},
           titles_, {.accumulate = has_candidates()}, rows, dim_);
}

// dloss/dD = G^T Q, and sums of query vectors over the pairs that a title is a
// candidate of.
void SoftmaxLoss::TitleGradients(int first, int last) {
  float* rows = gradients_.titles + static_cast<std::size_t>(first) * dim_;
  if (has_candidates()) {
    SumBags(by_title_, first, last, input_.query_vectors, dim_, rows);
  }
  const int n = input_.batch->num_pairs();
  if (!input_.batch->all_titles || first >= n) return;
  // The strides of G^T read columns of G as rows. Titles from n on were drawn
  // in addition to those of the pairs and have no column.
  Multiply({&scores_[first], std::min(last, n) - first, n, 1, stride_},
           queries_, {.accumulate = has_candidates()}, rows, dim_);
}

// The part of weights_ of `pair`; empty when the batch has no candidates.
std::span<float> SoftmaxLoss::CandidateWeights(int pair) {
  if (!has_candidates()) return {};
  return weights_.Counts(pair);
}

void SoftmaxLoss::ComputeCandidateLogits(int pair, float* logits) {
  const std::size_t size = CandidateWeights(pair).size();
  const float* query =
      input_.query_vectors + static_cast<std::size_t>(pair) * dim_;
  const std::vector<float>& corrections = input_.batch->corrections;
  for (std::size_t j = 0; j < size; ++j) {
    const std::size_t title = weights_.indices[weights_.offsets[pair] + j];
    logits[j] = gamma_ * Dot(query, input_.title_vectors + title * dim_, dim_);
    if (!corrections.empty()) logits[j] -= corrections[title];
  }
}

void SoftmaxLoss::ScoreCandidates(int pair) {
  const std::span<float> logits = CandidateWeights(pair);
  ComputeCandidateLogits(pair, logits.data());
  // The clicked title is the first of a list, its negatives follow.
  const SoftmaxResult result = SoftmaxNegatives(logits[0], logits.subspan(1));
  losses_[pair] = result.loss;
  const float scale = Scale(pair);
  for (float& value : logits) value *= scale;
  logits[0] = -scale * result.negative_probability;
}

}  // namespace semrank
