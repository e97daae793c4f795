// Connects the processes of a run that Open MPI's mpirun started. The main
// thread calls.
#ifndef SEMRANK_MODEL_TRAIN_DISTRIBUTED_PROCESS_LAUNCH_H_
#define SEMRANK_MODEL_TRAIN_DISTRIBUTED_PROCESS_LAUNCH_H_

#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/train/distributed/communicator.h"

namespace semrank {

// "with Open MPI 4.1.4" or "without MPI".
std::string_view MpiSupport();

// Discards what ranks other than 0 print through stdout and stderr, so that
// each message is shown once. Call it before anything is printed.
void SilenceOtherRanks();

// The other processes of this run; SingleProcess() when there are none.
// UsageError when there are others and this build has no MPI: each process
// would train and publish a model of its own.
absl::StatusOr<Communicator*> ConnectProcesses();

// Waits until all processes call it; call it once, at the end. A process that
// failed waits for ten seconds, then prints why and ends the others.
void DisconnectProcesses(const absl::Status& status);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_DISTRIBUTED_PROCESS_LAUNCH_H_
