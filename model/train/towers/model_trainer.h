// The interface of a model that is being trained, for the run and the
// validator.
//
//   Promise  the weights after a step depend on those before it, the batch and
//            the options, to the bit; not on the number of threads.
//   Threads  one thread calls; the work is done by the pool.
#ifndef SEMRANK_MODEL_TRAIN_TOWERS_MODEL_TRAINER_H_
#define SEMRANK_MODEL_TRAIN_TOWERS_MODEL_TRAINER_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "model/format/safetensors.h"
#include "model/train/batches/mini_batch.h"
#include "model/train/optimizer/parameter_optimizer.h"

namespace semrank {

// What a step needs in addition to its mini-batch.
struct StepContext {
  double learning_rate = 0;
  // Mini-batches before this one, over all epochs: numbers random streams.
  std::int64_t number = 0;
  // Unless null, runs once in some thread of the pool, concurrently with the
  // step: single-threaded work does not keep the other threads waiting.
  std::function<void()> concurrent_work = nullptr;
};

class ModelTrainer {
 public:
  virtual ~ModelTrainer() = default;

  // Mean loss a pair; NaN when the weights exceed single precision.
  virtual absl::StatusOr<double> Loss(const MiniBatch& batch) = 0;
  // As Loss, then takes one step of gradient descent.
  virtual absl::StatusOr<double> Step(const MiniBatch& batch,
                                      const StepContext& step) = 0;

  // Length of the gradient of the last Step, before it was clipped; 0 unless
  // gradients are clipped.
  virtual double gradient_norm() const = 0;

  // The weights, named as in a model file. The views stay valid while the
  // trainer lives; their values change with each Step.
  virtual std::vector<TensorView> Weights() const = 0;

  // Everything that the next Step depends on, except its arguments, always in
  // the same order; to be read or overwritten between two steps.
  virtual std::vector<StateTensor> State() = 0;
  // Call it after the state was overwritten with that of a trainer after
  // `num_steps` steps.
  virtual void Restored(std::int64_t num_steps) = 0;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_TOWERS_MODEL_TRAINER_H_
