// A model whose document tower stops at a gate, so that a test decides how far
// a request gets and when it continues.
#ifndef SEMRANK_TESTS_SUPPORT_GATED_MODEL_H_
#define SEMRANK_TESTS_SUPPORT_GATED_MODEL_H_

#include <memory>

#include "model/base/mutex.h"
#include "model/nn/two_tower_model.h"

namespace semrank {

class Gate {
 public:
  void Close() {
    MutexLock lock(mutex_);
    open_ = false;
  }
  void Open() {
    MutexLock lock(mutex_);
    open_ = true;
    changed_.NotifyAll();
  }
  // Blocks until a request waits at the closed gate.
  void WaitForArrival() {
    MutexLock lock(mutex_);
    while (num_waiting_ == 0) changed_.Wait(mutex_);
  }
  // The tower calls it.
  void Pass() {
    MutexLock lock(mutex_);
    ++num_waiting_;
    changed_.NotifyAll();
    while (!open_) changed_.Wait(mutex_);
    --num_waiting_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  bool open_ ABSL_GUARDED_BY(mutex_) = true;
  int num_waiting_ ABSL_GUARDED_BY(mutex_) = 0;
};

// The model of MakeTinyModel(), with `gate` before its document tower.
std::shared_ptr<const TwoTowerModel> MakeGatedModel(Gate* gate);

}  // namespace semrank

#endif  // SEMRANK_TESTS_SUPPORT_GATED_MODEL_H_
