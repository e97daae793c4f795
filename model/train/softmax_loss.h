// The loss of a mini-batch, DSSM eq. 6-7, and its gradient with respect to the
// vectors of the texts:
//
//   loss = mean over pairs of -log softmax(gamma R(Q, D+); gamma R(Q, D-))
//
// The mean is weighted when the pairs have weights: sum w loss / sum w.
// R is the dot product of unit vectors; the step from there through the length
// of y (eq. 16) is the tower's.
//
//   Shapes   vectors and gradients are row-major, [num_pairs, dim] for
//            queries, [batch.titles.size(), dim] for titles.
//   Memory   num_pairs^2 floats with all titles, and the candidates.
//   Promise  every number is computed in one order, whatever the threads.
//   Threads  Compute is called by one thread; it uses the pool.
#ifndef SEMRANK_MODEL_TRAIN_SOFTMAX_LOSS_H_
#define SEMRANK_MODEL_TRAIN_SOFTMAX_LOSS_H_

#include <span>
#include <vector>

#include "model/base/thread_pool.h"
#include "model/nn/gemm.h"
#include "model/train/bag_transpose.h"
#include "model/train/negative_sampler.h"
#include "model/train/work_list.h"

namespace semrank {

struct LossInput {
  const MiniBatch& batch;
  const float* query_vectors = nullptr;
  const float* title_vectors = nullptr;
};

// Where gradients go: both, or both null for the loss alone.
struct LossGradients {
  float* queries = nullptr;
  float* titles = nullptr;
};

class SoftmaxLoss {
 public:
  SoftmaxLoss(double gamma, int dim)
      : gamma_(static_cast<float>(gamma)), dim_(dim) {}

  // The mean loss a pair; fills the gradients.
  double Compute(const LossInput& input, const LossGradients& gradients,
                 ThreadPool& pool);

 private:
  float Scale(const MiniBatch& batch, int pair) const;
  void ScoreAllTitles(const LossInput& input, const LossGradients& gradients,
                      ThreadPool& pool);
  void ScoreRows(const LossInput& input, int first, int last);
  void ScoreCandidates(const LossInput& input, const LossGradients& gradients,
                       ThreadPool& pool);
  void ScorePair(const LossInput& input, int pair);
  // Cosines of a pair with its candidates times gamma.
  void ComputeCandidateLogits(const LossInput& input, int pair, float* logits);
  std::span<float> CandidateWeights(int pair);
  void AddCandidateGradients(const LossInput& input, float* title_gradients,
                             WorkList& work);

  float gamma_;
  int dim_;
  std::vector<double> losses_;  // of each pair
  double total_weight_ = 0;     // of the batch

  // All titles: scores, then dloss/dR, [num_pairs, stride_]; those of the
  // titles of the batch, then of each pair's own candidates.
  std::vector<float> scores_;
  int stride_ = 0;
  PackedMatrix titles_transposed_;  // [dim, num_pairs]
  PackedMatrix titles_;             // [num_pairs, dim]
  PackedMatrix queries_;            // [num_pairs, dim]

  // Candidates: by pair the titles and dloss/dR, and the same by title.
  BagBatch weights_;
  BagTranspose by_title_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_SOFTMAX_LOSS_H_
