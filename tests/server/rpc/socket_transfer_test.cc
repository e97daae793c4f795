#include "server/rpc/socket_transfer.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "model/base/mutex.h"
#include "tests/support/plain_client.h"
#include "tests/support/tcp_listener.h"

namespace semrank {
namespace {

// A peer that sends without a pause until its connection is reset.
class Flood {
 public:
  explicit Flood(const std::string& address)
      : client_(address), thread_([this] {
          const std::string bytes(10'000, 'x');
          while (client_.Send(bytes)) {
          }
        }) {}
  ~Flood() { thread_.join(); }

 private:
  PlainClient client_;
  std::thread thread_;
};

class SocketTransferTest : public ::testing::Test {
 protected:
  ~SocketTransferTest() override {
    for (const int kept : kept_) close(kept);
  }

  // Reads on as long as bytes come, as gRPC does; here until the end.
  SocketTransfer::Accept Take() {
    return [this](int fd) {
      char buffer[4'096];
      while (recv(fd, buffer, sizeof(buffer), 0) > 0) {
      }
      close(fd);
      MutexLock lock(mutex_);
      ++num_taken_;
      changed_.NotifyAll();
    };
  }
  void WaitUntilTaken(int count) {
    MutexLock lock(mutex_);
    while (num_taken_ < count) changed_.Wait(mutex_);
  }
  int num_taken() {
    MutexLock lock(mutex_);
    return num_taken_;
  }
  // What has connected last. Returns the kept descriptor.
  int Add(SocketTransfer& transfer) {
    const int fd = listener_.Accept();
    kept_.push_back(dup(fd));
    transfer.Add(fd, kept_.back());
    return kept_.back();
  }

  const TcpListener listener_;

 private:
  std::vector<int> kept_;
  Mutex mutex_;
  CondVar changed_;
  int num_taken_ ABSL_GUARDED_BY(mutex_) = 0;
};

TEST_F(SocketTransferTest, APeerThatNeverPausesIsResetOnceAnotherWaits) {
  const Flood flood(listener_.address());
  SocketTransfer transfer(Take(), std::chrono::milliseconds(0));
  Add(transfer);
  EXPECT_FALSE(transfer.ResetIfStuck());
  {
    const PlainClient another(listener_.address());
    Add(transfer);
    while (!transfer.ResetIfStuck()) std::this_thread::yield();
    WaitUntilTaken(1);
  }
  WaitUntilTaken(2);
}

TEST_F(SocketTransferTest, NoneIsResetBeforeItsTime) {
  const Flood flood(listener_.address());
  SocketTransfer transfer(Take(), std::chrono::hours(1));
  const int kept = Add(transfer);
  {
    const PlainClient another(listener_.address());
    Add(transfer);
    EXPECT_TRUE(transfer.busy());
    EXPECT_FALSE(transfer.ResetIfStuck());
  }
  ResetConnection(kept);
  WaitUntilTaken(2);
}

TEST_F(SocketTransferTest, OneThatEndedBeforeItsTurnIsNotTaken) {
  const Flood flood(listener_.address());
  SocketTransfer transfer(Take(), std::chrono::hours(1));
  const int kept = Add(transfer);
  const PlainClient another(listener_.address());
  transfer.Remove(Add(transfer));
  ResetConnection(kept);
  WaitUntilTaken(1);
  while (transfer.busy()) std::this_thread::yield();
  EXPECT_EQ(num_taken(), 1);
}

TEST_F(SocketTransferTest, StopEndsAPeerThatNeverPausesAndThoseThatWait) {
  const Flood flood(listener_.address());
  SocketTransfer transfer(Take(), std::chrono::milliseconds(0));
  Add(transfer);
  PlainClient another(listener_.address());
  Add(transfer);
  transfer.Stop();
  EXPECT_EQ(another.Read(), '\0');
  EXPECT_LE(num_taken(), 1);
}

}  // namespace
}  // namespace semrank
