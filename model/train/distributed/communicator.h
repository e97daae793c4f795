// Collective operations of the processes that train one model together. Each
// process calls the same methods in the same order; a call returns when all
// processes have made it.
//
//   Values   are four bytes wide: float, std::uint32_t. AllGather and AllToAll
//            transfer at most kMaxMessageValues of them in one call, over all
//            processes; the caller checks that. Sums and broadcasts may have
//            any size.
//   Errors   none: a broken connection ends all processes.
//   Threads  one thread calls. A process that waits sleeps.
#ifndef SEMRANK_MODEL_TRAIN_DISTRIBUTED_COMMUNICATOR_H_
#define SEMRANK_MODEL_TRAIN_DISTRIBUTED_COMMUNICATOR_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/base/thread_pool.h"
#include "model/train/batches/batch_share.h"

namespace semrank {

inline constexpr std::int64_t kMaxMessageValues = (std::int64_t{1} << 31) - 1;

class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;  // in [0, num_processes())
  virtual int num_processes() const = 0;
  bool is_alone() const { return num_processes() == 1; }
  // The first process, rank 0, prints, validates, writes checkpoints and
  // publishes. The others only take part in the steps.
  bool is_first() const { return rank() == 0; }
  // What this process embeds of a mini-batch.
  BatchShare ShareOf(const MiniBatch& batch) const {
    return semrank::ShareOf(batch, rank(), num_processes());
  }

  // OK if every process passes OK. Otherwise, in all of them, the status of the
  // lowest rank that failed.
  absl::Status Agree(const absl::Status& own);
  // The result of this process if every process passes a value, otherwise as
  // Agree.
  template <typename T>
  absl::StatusOr<T> Agree(absl::StatusOr<T> own) {
    const absl::Status all = Agree(own.status());
    if (!all.ok()) return all;
    return own;
  }
  // Calls `work`, which returns a StatusOr, in the first process alone. The
  // others get a value-initialised result, or fail together with the first.
  template <typename Work>
  auto OnFirst(Work&& work) -> std::invoke_result_t<Work> {
    using Result = std::invoke_result_t<Work>;
    Result result = typename Result::value_type();
    if (is_first()) result = work();
    return Agree(std::move(result));
  }
  // Internal, in all processes, if `fingerprint` differs between them.
  absl::Status CheckSame(std::uint64_t fingerprint, std::string_view what);
  // The sum over the ranks, added in their order.
  double Sum(double own);
  // Returns the value of the first process in all. `values` has the same size
  // in each, and is overwritten.
  double Broadcast(double value);
  std::string Broadcast(std::string_view text);
  void Broadcast(std::span<float> values);

  // Fills `all` with the values of rank 0, then those of rank 1, and so on;
  // rank r has sizes[r] values.
  template <typename T>
  void AllGather(std::span<const T> own, std::span<const int> sizes,
                 std::span<T> all) {
    static_assert(sizeof(T) == 4);
    GatherWords(own.data(), sizes, all.data());
  }
  // `sent` holds the values for rank 0, then those for rank 1, and so on;
  // `received` gets the values from rank 0, then those from rank 1.
  virtual void AllToAll(std::span<const float> sent,
                        std::span<const int> sent_sizes,
                        std::span<float> received,
                        std::span<const int> received_sizes) = 0;

  // Replaces each element by its sum over the ranks, added in their order: the
  // same bits in each process and each run, which MPI_Allreduce does not
  // promise.
  void AllReduceSum(std::span<float> values);

 private:
  void SumSlice(std::span<float> values);
  virtual void GatherWords(const void* own, std::span<const int> sizes,
                           void* all) = 0;
};

// The communicator of a run of one process.
Communicator& SingleProcess();

// What trains a model: the threads of this process, and the processes.
struct Workers {
  // A pool alone stands for a run of one process.
  Workers(ThreadPool& threads,  // NOLINT(google-explicit-constructor)
          Communicator& all = SingleProcess())
      : pool(threads), processes(all) {}

  ThreadPool& pool;
  Communicator& processes;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_DISTRIBUTED_COMMUNICATOR_H_
