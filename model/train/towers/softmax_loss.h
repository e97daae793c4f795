// The loss of a mini-batch, DSSM eq. 6-7, and its gradient with respect to the
// vectors of the texts:
//
//   loss = mean over pairs of -log softmax(gamma R(Q, D+); gamma R(Q, D-))
//
// The mean is weighted when the pairs have weights: sum w loss / sum w. The
// correction of D, if the batch has one, is subtracted from the logit gamma
// R(Q, D). R is the dot product of unit vectors; the tower continues from there
// through the length of y (eq. 16).
//
//   Shapes   vectors and gradients are row-major, [num_pairs, dim] for
//            queries, [batch.titles.size(), dim] for titles.
//   Memory   num_pairs^2 floats with all titles, and the candidates.
//   Promise  every number is computed in one order, whatever the threads.
//   Threads  one thread calls; the work is done by a pool.
#ifndef SEMRANK_MODEL_TRAIN_TOWERS_SOFTMAX_LOSS_H_
#define SEMRANK_MODEL_TRAIN_TOWERS_SOFTMAX_LOSS_H_

#include <span>
#include <vector>

#include "model/base/huge_pages.h"
#include "model/base/task_graph.h"
#include "model/base/thread_pool.h"
#include "model/nn/gemm.h"
#include "model/text/bag_batch.h"
#include "model/train/batches/mini_batch.h"

namespace semrank {

struct LossInput {
  const MiniBatch* batch = nullptr;
  const float* query_vectors = nullptr;
  const float* title_vectors = nullptr;
};

// The output. Both are null for the loss alone.
struct LossGradients {
  float* queries = nullptr;
  float* titles = nullptr;
};

// The stages that produce something for queries and titles.
struct SideStages {
  TaskGraph::Stages queries;
  TaskGraph::Stages titles;
};

class SoftmaxLoss {
 public:
  SoftmaxLoss(double gamma, int dim)
      : gamma_(static_cast<float>(gamma)), dim_(dim) {}

  // Fills the gradients and returns the mean loss a pair.
  double Compute(const LossInput& input, const LossGradients& gradients,
                 ThreadPool& pool);

  // Adds stages that compute the same after `vectors` have produced the
  // vectors. Returns the stages that produce the gradients.
  SideStages AddStages(const LossInput& input, const LossGradients& gradients,
                       const SideStages& vectors, TaskGraph& graph);
  // After Compute, or after the stages have run.
  double MeanLoss() const;

 private:
  bool has_candidates() const { return weights_.num_texts() > 0; }
  void Begin(const LossInput& input, const LossGradients& gradients);
  void AddTitlePackTasks(TaskList& tasks);
  void AddQueryPackTasks(TaskList& tasks);
  void ScorePairs(int first, int last);
  float Scale(int pair) const;
  void ScoreAllTitles(int first, int last);
  void ScoreCandidates(int pair);
  void QueryGradients(int first, int last);
  void TitleGradients(int first, int last);
  // Computes gamma times the cosines of a pair with its candidates.
  void ComputeCandidateLogits(int pair, float* logits);
  std::span<float> CandidateWeights(int pair);

  float gamma_;
  int dim_;
  LossInput input_;
  LossGradients gradients_;
  std::vector<double> losses_;  // of each pair
  double total_weight_ = 0;     // of the batch

  // With all titles: scores, later dloss/dR, [num_pairs, stride_]. The columns
  // are the titles of the batch, then each pair's own candidates.
  HugePageVector<float> scores_;
  int stride_ = 0;
  PackedMatrix titles_transposed_;  // [dim, num_pairs]
  PackedMatrix titles_;             // [num_pairs, dim]
  PackedMatrix queries_;            // [num_pairs, dim]

  // With candidates: the titles and dloss/dR of each pair, and the same by
  // title.
  BagBatch weights_;
  BagBatch by_title_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_TOWERS_SOFTMAX_LOSS_H_
