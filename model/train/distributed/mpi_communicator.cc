#include "model/train/distributed/mpi_communicator.h"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_format.h"

namespace semrank {
namespace {

using Clock = std::chrono::steady_clock;

// How long a process that failed waits for the others to end too.
constexpr std::chrono::seconds kEndLimit(10);

// MPI's own waits spin. This one sleeps, longer the longer it takes; false
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
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &process_);
    MPI_Comm_size(MPI_COMM_WORLD, &num_processes_);
    MPI_Comm_dup(MPI_COMM_WORLD, &end_);
  }

  int process() const override { return process_; }
  int num_processes() const override { return num_processes_; }

  void AllToAll(std::span<const float> given, std::span<const int> given_sizes,
                std::span<float> got, std::span<const int> got_sizes) override {
    const std::vector<int> from = Offsets(given_sizes), to = Offsets(got_sizes);
    MPI_Request request;
    MPI_Ialltoallv(given.data(), given_sizes.data(), from.data(), MPI_FLOAT,
                   got.data(), got_sizes.data(), to.data(), MPI_FLOAT,
                   MPI_COMM_WORLD, &request);
    Wait(request, Clock::time_point::max());
  }

  void End(const absl::Status& status) {
    MPI_Request request;
    MPI_Ibarrier(end_, &request);
    const auto deadline =
        status.ok() ? Clock::time_point::max() : Clock::now() + kEndLimit;
    if (!Wait(request, deadline)) {
      // stderr may be silenced.
      const std::string text =
          absl::StrFormat("semrank-train: error: process %d of %d: %s\n",
                          process_ + 1, num_processes_, status.message());
      if (write(STDERR_FILENO, text.data(), text.size()) < 0) std::abort();
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
    MPI_Iallgatherv(own, sizes[process_], MPI_UINT32_T, all, sizes.data(),
                    offsets.data(), MPI_UINT32_T, MPI_COMM_WORLD, &request);
    Wait(request, Clock::time_point::max());
  }

  int process_ = 0;
  int num_processes_ = 1;
  MPI_Comm end_ = MPI_COMM_NULL;  // apart, so that its barrier meets no other
};

OpenMpi& Instance() {
  static auto* const instance = new OpenMpi;
  return *instance;
}

}  // namespace

Communicator& MpiCommunicator() { return Instance(); }

void EndMpi(const absl::Status& status) { Instance().End(status); }

}  // namespace semrank
