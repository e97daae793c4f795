// The files of a training run in its model directory, and the lock under which
// it writes them.
#ifndef SEMRANK_MODEL_TRAIN_REPORT_RUN_FILES_H_
#define SEMRANK_MODEL_TRAIN_REPORT_RUN_FILES_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/base/file_descriptor.h"

namespace semrank {

inline constexpr char kTrainingLogFile[] = "training.jsonl";
inline constexpr char kReportFile[] = "report.html";
inline constexpr char kCheckpointFile[] = "checkpoint.safetensors";
inline constexpr char kLockFile[] = "training.lock";

// Creates `model_dir` if need be and makes sure that a model can be published
// there: errors come before the training, not after it.
absl::Status CheckWritable(const std::string& model_dir);

// The lock of a run on its model directory.
//
//   File     kLockFile, under flock(2) while the run lasts, removed at its end.
//            The file of a killed run does not matter: the kernel has released
//            the lock.
//   Scope    every process of the machine, and of all machines over NFS (Linux
//            2.6.12 and later). Where a file system has no such locks, the run
//            prints a warning and continues without.
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

#endif  // SEMRANK_MODEL_TRAIN_REPORT_RUN_FILES_H_
