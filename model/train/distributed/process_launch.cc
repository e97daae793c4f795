#include "model/train/distributed/process_launch.h"

#ifdef SEMRANK_HAVE_MPI
#include <mpi.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "model/cli/exit_code.h"

namespace semrank {
namespace {

// The value of a variable that mpirun sets; 0 without mpirun.
int EnvironmentNumber(const char* name) {
  const char* text = std::getenv(name);
  int number = 0;
  return text != nullptr && absl::SimpleAtoi(text, &number) ? number : 0;
}

// Open MPI sets its variables before the program starts, so a build without MPI
// can see that it was started by mpirun, too.
int NumLaunched() { return EnvironmentNumber("OMPI_COMM_WORLD_SIZE"); }

#ifdef SEMRANK_HAVE_MPI

using Clock = std::chrono::steady_clock;

// How long a process that failed waits until the others have ended too.
constexpr std::chrono::seconds kEndLimit(10);

// MPI's own waits spin. This one sleeps, for longer the longer it waits. False
// after `deadline`.
bool Wait(MPI_Request request, Clock::time_point deadline) {
  constexpr std::chrono::microseconds kShortest(10), kLongest(1000);
  std::chrono::microseconds pause = kShortest;
  for (int done = 0;;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) return true;
    if (Clock::now() > deadline) return false;
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 5 / 4, kLongest);
  }
}

std::vector<int> Offsets(std::span<const int> sizes) {
  std::vector<int> offsets;
  int next = 0;
  for (const int size : sizes) {
    offsets.push_back(next);
    next += size;
  }
  return offsets;
}

class OpenMpi : public Communicator {
 public:
  OpenMpi() {
    int provided = 0;
    // Only the thread that trains calls MPI; those of the pool never do.
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &num_processes_);
    // A communicator of its own: a barrier of End cannot match a call of a step
    // that another process is still in.
    MPI_Comm_dup(MPI_COMM_WORLD, &end_);
  }

  int rank() const override { return rank_; }
  int num_processes() const override { return num_processes_; }

  void AllToAll(std::span<const float> sent, std::span<const int> sent_sizes,
                std::span<float> received,
                std::span<const int> received_sizes) override {
    const std::vector<int> from = Offsets(sent_sizes);
    const std::vector<int> to = Offsets(received_sizes);
    MPI_Request request;
    MPI_Ialltoallv(sent.data(), sent_sizes.data(), from.data(), MPI_FLOAT,
                   received.data(), received_sizes.data(), to.data(), MPI_FLOAT,
                   MPI_COMM_WORLD, &request);
    Wait(request, Clock::time_point::max());
  }

  void End(const absl::Status& status) {
    MPI_Request request;
    // A process that failed comes here while the others may be in the middle of
    // a step, where they would wait for it forever. So it ends them after a
    // while.
    MPI_Ibarrier(end_, &request);
    const auto deadline =
        status.ok() ? Clock::time_point::max() : Clock::now() + kEndLimit;
    if (!Wait(request, deadline)) {
      // stderr may be silenced.
      const std::string text =
          absl::StrFormat("semrank-train: error: process %d of %d: %s\n",
                          rank_ + 1, num_processes_, status.message());
      // A text that cannot be printed must not keep the others running.
      [[maybe_unused]] const ssize_t written =
          write(STDERR_FILENO, text.data(), text.size());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Comm_free(&end_);
    MPI_Finalize();
  }

 private:
  void GatherWords(const void* own, std::span<const int> sizes,
                   void* all) override {
    const std::vector<int> offsets = Offsets(sizes);
    MPI_Request request;
    MPI_Iallgatherv(own, sizes[rank_], MPI_UINT32_T, all, sizes.data(),
                    offsets.data(), MPI_UINT32_T, MPI_COMM_WORLD, &request);
    Wait(request, Clock::time_point::max());
  }

  int rank_ = 0;
  int num_processes_ = 1;
  MPI_Comm end_ = MPI_COMM_NULL;  // of the barrier in End alone
};

OpenMpi& Mpi() {
  static auto* const instance = new OpenMpi;
  return *instance;
}

#endif

}  // namespace

// Replaces the streams of the C library, not the files that they write to: what
// a crash or a sanitizer writes is still seen.
void SilenceOtherRanks() {
  if (EnvironmentNumber("OMPI_COMM_WORLD_RANK") == 0) return;
  if (std::FILE* nowhere = std::fopen("/dev/null", "w")) {
    stdout = nowhere;
    stderr = nowhere;
  }
}

#ifdef SEMRANK_HAVE_MPI

std::string_view MpiSupport() { return "with MPI"; }

absl::StatusOr<Communicator*> ConnectProcesses() {
  return NumLaunched() > 1 ? &Mpi() : &SingleProcess();
}

void DisconnectProcesses(const absl::Status& status) {
  if (NumLaunched() > 1) Mpi().End(status);
}

#else

std::string_view MpiSupport() { return "without MPI"; }

absl::StatusOr<Communicator*> ConnectProcesses() {
  if (NumLaunched() <= 1) return &SingleProcess();
  return UsageError(absl::StrFormat(
      "started as one of %d processes by mpirun, but this semrank-train was "
      "built without MPI: each would train a model of its own. Build it again "
      "with libopenmpi-dev installed, or start it without mpirun",
      NumLaunched()));
}

void DisconnectProcesses(const absl::Status&) {}

#endif

}  // namespace semrank
