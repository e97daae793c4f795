// The processes that Open MPI's mpirun started. Only in builds with MPI.
#ifndef SEMRANK_MODEL_TRAIN_DISTRIBUTED_MPI_COMMUNICATOR_H_
#define SEMRANK_MODEL_TRAIN_DISTRIBUTED_MPI_COMMUNICATOR_H_

#include "absl/status/status.h"
#include "model/train/distributed/communicator.h"

namespace semrank {

// Starts MPI when first called.
Communicator& MpiCommunicator();

// As DisconnectProcesses.
void EndMpi(const absl::Status& status);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_DISTRIBUTED_MPI_COMMUNICATOR_H_
