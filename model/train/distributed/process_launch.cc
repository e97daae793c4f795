#include "model/train/distributed/process_launch.h"

#include <cstdio>
#include <cstdlib>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "model/cli/program.h"
#include "model/train/distributed/mpi_communicator.h"

namespace semrank {
namespace {

// What mpirun says in the environment; 0 without it.
int EnvironmentNumber(const char* name) {
  const char* text = std::getenv(name);
  int number = 0;
  return text != nullptr && absl::SimpleAtoi(text, &number) ? number : 0;
}

int NumLaunched() { return EnvironmentNumber("OMPI_COMM_WORLD_SIZE"); }

}  // namespace

// The streams of the C library, not the files behind them: what a crash or a
// sanitizer writes is still seen.
void SilenceFollowers() {
  if (EnvironmentNumber("OMPI_COMM_WORLD_RANK") == 0) return;
  if (std::FILE* nowhere = std::fopen("/dev/null", "w")) {
    stdout = nowhere;
    stderr = nowhere;
  }
}

#ifdef SEMRANK_HAVE_MPI

std::string_view MpiSupport() { return "with MPI"; }

absl::StatusOr<Communicator*> ConnectProcesses() {
  return NumLaunched() > 1 ? &MpiCommunicator() : &OneProcess();
}

void DisconnectProcesses(const absl::Status& status) {
  if (NumLaunched() > 1) EndMpi(status);
}

#else

std::string_view MpiSupport() { return "without MPI"; }

absl::StatusOr<Communicator*> ConnectProcesses() {
  if (NumLaunched() <= 1) return &OneProcess();
  return UsageError(absl::StrFormat(
      "started as one of %d processes by mpirun, but this semrank-train was "
      "built without MPI: each would train a model of its own. Build it again "
      "with libopenmpi-dev installed, or start it without mpirun",
      NumLaunched()));
}

void DisconnectProcesses(const absl::Status&) {}

#endif

}  // namespace semrank
