// How semrank-train was started: alone, or by Open MPI's mpirun as one of
// several processes.
#ifndef SEMRANK_MODEL_TRAIN_DISTRIBUTED_PROCESS_LAUNCH_H_
#define SEMRANK_MODEL_TRAIN_DISTRIBUTED_PROCESS_LAUNCH_H_

#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/train/distributed/communicator.h"

namespace semrank {

// "with Open MPI 4.1.4" or "without MPI".
std::string_view MpiSupport();

// All processes but the first print nothing through stdout and stderr, so that
// a person sees everything once. Before anything is printed.
void SilenceFollowers();

// The other processes of this run; OneProcess() when there are none. UsageError
// when there are, and this build cannot talk to them: each would train, and
// publish, a model of its own.
absl::StatusOr<Communicator*> ConnectProcesses();

// Once, as the last thing: waits for the other processes. One that failed and
// finds within ten seconds that the others have not come to their end prints
// why, and ends them.
void DisconnectProcesses(const absl::Status& status);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_DISTRIBUTED_PROCESS_LAUNCH_H_
