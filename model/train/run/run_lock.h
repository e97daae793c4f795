// The right of one training run to a model directory: its checkpoint, log,
// report and grid have room for one.
//
//   File     training.lock in the directory, under flock(2) while the run
//            lasts, removed at its end. What a killed run leaves of it means
//            nothing: the kernel has let go of the lock.
//   Reach    every process of the machine. Over NFS of Linux 2.6.12 and later
//            all machines; where a file system has no such locks the run goes
//            on without, and says so.
//   Threads  one thread.
#ifndef SEMRANK_MODEL_TRAIN_RUN_RUN_LOCK_H_
#define SEMRANK_MODEL_TRAIN_RUN_RUN_LOCK_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "model/base/file_descriptor.h"

namespace semrank {

inline constexpr char kLockFile[] = "training.lock";

class RunLock {
 public:
  // Does not wait: FailedPrecondition names the folder and the process that
  // has it. Once the lock is held, removes what killed runs left half written.
  static absl::StatusOr<std::unique_ptr<RunLock>> Acquire(
      const std::string& model_dir);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  RunLock(FileDescriptor file, bool is_held)
      : file_(std::move(file)), is_held_(is_held) {}

  FileDescriptor file_;
  bool is_held_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_RUN_RUN_LOCK_H_
