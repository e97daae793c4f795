// Threads that stand for the processes of a distributed run in tests.
#ifndef SEMRANK_TESTS_MODEL_TRAIN_DISTRIBUTED_THREAD_COMMUNICATOR_H_
#define SEMRANK_TESTS_MODEL_TRAIN_DISTRIBUTED_THREAD_COMMUNICATOR_H_

#include <algorithm>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "model/base/mutex.h"
#include "model/train/distributed/communicator.h"

namespace semrank {

// A barrier at which the ranks show each other their data.
class Exchange {
 public:
  explicit Exchange(int size) : given_(size) {}

  // Calls `read` with the data of all ranks. No rank returns before all have
  // read.
  void Meet(int rank, const void* own,
            const std::function<void(const std::vector<const void*>&)>& read) {
    given_[rank] = own;
    WaitForAll();
    read(given_);
    WaitForAll();
  }

 private:
  void WaitForAll() {
    MutexLock lock(mutex_);
    const int round = round_;
    if (++waiting_ == static_cast<int>(given_.size())) {
      waiting_ = 0;
      ++round_;
      all_here_.NotifyAll();
    }
    while (round == round_) all_here_.Wait(mutex_);
  }

  Mutex mutex_;
  CondVar all_here_;
  int waiting_ ABSL_GUARDED_BY(mutex_) = 0;
  int round_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<const void*> given_;
};

class ThreadCommunicator : public Communicator {
 public:
  ThreadCommunicator(Exchange& exchange, int rank, int num_processes)
      : exchange_(exchange), rank_(rank), num_processes_(num_processes) {}

  int rank() const override { return rank_; }
  int num_processes() const override { return num_processes_; }

  void AllToAll(std::span<const float> sent, std::span<const int> sent_sizes,
                std::span<float> received,
                std::span<const int> received_sizes) override {
    const Given own = {sent.data(), sent_sizes};
    exchange_.Meet(rank_, &own, [&](const auto& all) {
      float* to = received.data();
      for (int p = 0; p < num_processes_; ++p) {
        const Given& other = *static_cast<const Given*>(all[p]);
        const float* from = other.data;
        for (int before = 0; before < rank_; ++before) {
          from += other.sizes[before];
        }
        to = std::copy_n(from, received_sizes[p], to);
      }
    });
  }

 private:
  struct Given {
    const float* data;
    std::span<const int> sizes;
  };

  void GatherWords(const void* own, std::span<const int> sizes,
                   void* all) override {
    exchange_.Meet(rank_, own, [&](const auto& given) {
      char* to = static_cast<char*>(all);
      for (int p = 0; p < num_processes_; ++p) {
        if (sizes[p] > 0) std::memcpy(to, given[p], 4 * sizes[p]);
        to += 4 * sizes[p];
      }
    });
  }

  Exchange& exchange_;
  int rank_;
  int num_processes_;
};

inline void RunProcesses(int num_processes,
                         const std::function<void(Communicator&)>& run) {
  Exchange exchange(num_processes);
  std::vector<std::thread> threads;
  for (int p = 0; p < num_processes; ++p) {
    threads.emplace_back([&, p] {
      ThreadCommunicator communicator(exchange, p, num_processes);
      run(communicator);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace semrank

#endif  // SEMRANK_TESTS_MODEL_TRAIN_DISTRIBUTED_THREAD_COMMUNICATOR_H_
