// Trains the weights that SSI gives to words or pairs of words: the diagonal,
// all of W, or the weights of hashed pairs. With g the gradient with respect to
// the scores,
//
//   dloss/dS(s, t) = sum over pairs i of q_i(s) r_i(t),
//   r_i(t)         = sum over titles k of g(i, k) d_k(t)
//
//   Memory   during a step, the distinct words of each pair's violating titles;
//            for hashed pairs a second copy of the weights; for kept gradients
//            8 bytes a weight that the step changes.
//   Share    each of several processes computes the r_i of its pairs and sends
//            them to all, and all make the same update.
//   Threads  one thread calls; the tasks run in any thread.
#ifndef SEMRANK_MODEL_TRAIN_SSI_WORD_PAIR_TRAINER_H_
#define SEMRANK_MODEL_TRAIN_SSI_WORD_PAIR_TRAINER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "model/base/task_graph.h"
#include "model/train/batches/bag_transpose.h"
#include "model/train/batches/batch_share.h"
#include "model/train/distributed/communicator.h"
#include "model/train/optimizer/gradient_set.h"
#include "model/train/optimizer/parameter_optimizer.h"
#include "model/train/ssi/ssi_weights.h"

namespace semrank {

class WordPairTrainer {
 public:
  // `weights` outlive the trainer and do not move.
  WordPairTrainer(SsiWeights& weights, const OptimizerOptions& options,
                  int num_workers);

  // Call it before the first step: gradients are then kept, not used at once.
  void KeepGradients() { keeps_gradients_ = true; }

  ParameterOptimizer& optimizer() { return optimizer_; }

  // tf-idf bags of the step's queries and titles, and g by pair; they outlive
  // the step. Gather work runs before update work.
  void AddGatherTasks(const BagBatch& queries, const BagBatch& titles,
                      const BagBatch& score_gradients, TaskList& tasks);
  // Call it between gathering and update when there are other processes. This
  // process knows g of `pairs`. Fails as GatherBags.
  absl::Status Exchange(Range pairs, Communicator& communicator);
  void AddUpdateTasks(double learning_rate, TaskList& tasks);
  // After the update work, when gradients are kept.
  void AppendGradients(GradientSet& gradients);
  void AddKeptUpdateTasks(TaskList& tasks);

 private:
  // A dense row of sums, of which only those at `touched` may not be 0.
  struct Sums {
    std::vector<float> values;
    std::vector<std::uint32_t> touched;

    void Add(std::uint32_t index, float value);
    // Calls visit(index, sum) once for each sum that is not 0, in order of
    // first appearance, and resets all to 0.
    template <typename Visit>
    void Drain(Visit visit);
  };

  BagView Gathered(int pair) const;
  void GatherPairs(int first, int last, int worker);
  // The tasks of the update; task i keeps its gradient in kept_[i].
  int num_tasks() const;
  void UpdateRow(std::uint32_t word, int task, int worker);
  void UpdateHashed();
  // Weight first + i has the gradient sums.values[i].
  void UpdateWeights(std::size_t first, Sums& sums, int task);

  SsiWeights& weights_;
  ParameterOptimizer optimizer_;
  const BagBatch* queries_ = nullptr;
  const BagBatch* titles_ = nullptr;
  const BagBatch* score_gradients_ = nullptr;
  std::vector<BagBatch> gathered_;  // r_i, by block of pairs
  BagBatch own_;                    // r_i of this process
  BagBatch exchanged_;              // r_i of all pairs; without bags: gathered_
  BagTranspose by_query_word_;
  std::vector<Sums> sums_;  // by worker, by word
  Sums hashed_;             // by bucket
  bool keeps_gradients_ = false;
  std::vector<RowGradients> kept_;  // by task; a row is one weight
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_SSI_WORD_PAIR_TRAINER_H_
