// The processes that train one model together, as the trainer sees them: each
// calls the same methods in the same order and is held until all have.
//
//   Values   of four bytes: float, std::uint32_t. At most kMaxExchange of them
//            in one call, all processes together; the caller sees to it.
//   Errors   none: a connection that breaks ends all processes.
//   Threads  one thread calls. A process that waits sleeps.
#ifndef SEMRANK_MODEL_TRAIN_DISTRIBUTED_COMMUNICATOR_H_
#define SEMRANK_MODEL_TRAIN_DISTRIBUTED_COMMUNICATOR_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace semrank {

inline constexpr std::int64_t kMaxExchange = (std::int64_t{1} << 31) - 1;

class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int process() const = 0;  // in [0, num_processes())
  virtual int num_processes() const = 0;
  // The process that prints, validates and publishes.
  bool is_leader() const { return process() == 0; }

  // all = what process 0 gave, then process 1, ...; sizes[p] values of p.
  template <typename T>
  void AllGather(std::span<const T> own, std::span<const int> sizes,
                 std::span<T> all) {
    static_assert(sizeof(T) == 4);
    GatherWords(own.data(), sizes, all.data());
  }
  // `given` is cut into what goes to process 0, 1, ...; `got` is what came
  // from process 0, 1, ...
  virtual void AllToAll(std::span<const float> given,
                        std::span<const int> given_sizes, std::span<float> got,
                        std::span<const int> got_sizes) = 0;

  // Each element becomes its sum over the processes, taken in their order: the
  // same bits everywhere, and in each run.
  void AllReduceSum(std::span<float> values);

 private:
  virtual void GatherWords(const void* own, std::span<const int> sizes,
                           void* all) = 0;
};

// A process by itself.
Communicator& OneProcess();

// OK if each process has OK. Otherwise, on all of them, the status of the first
// process that failed.
absl::Status Agree(Communicator& communicator, const absl::Status& own);

// Internal, on all processes, if `fingerprint` differs between them.
absl::Status CheckSame(Communicator& communicator, std::uint64_t fingerprint,
                       absl::string_view what);

// The sum of a number of each process, taken in their order, on all of them.
double SumOfAll(Communicator& communicator, double own);
// The leader's number, on all processes.
double FromLeader(Communicator& communicator, double value);
// The leader's text.
std::string FromLeader(Communicator& communicator, std::string_view text);
// Overwrites `values` with the leader's, of which there are as many; any
// number of them.
void CopyFromLeader(Communicator& communicator, std::span<float> values);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_DISTRIBUTED_COMMUNICATOR_H_
