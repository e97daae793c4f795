#include "server/rpc/connection_listener.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <thread>
#include <vector>

#include "model/base/mutex.h"
#include "tests/support/plain_client.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

template <typename Condition>
void WaitUntil(Condition condition) {
  while (!condition()) std::this_thread::yield();
}

// In the place of gRPC: greets each connection with a byte and keeps it.
class Taker {
 public:
  ~Taker() {
    for (const int fd : fds_) close(fd);
  }
  SocketTransfer::Accept Take() {
    return [this](int fd) {
      MutexLock lock(mutex_);
      fds_.push_back(fd);
      send(fd, "!", 1, MSG_NOSIGNAL);
    };
  }
  std::size_t num_taken() {
    MutexLock lock(mutex_);
    return fds_.size();
  }
  int Fd(std::size_t index) {
    MutexLock lock(mutex_);
    return fds_[index];
  }
  // As gRPC ends one, but without closing the descriptor before the end of the
  // test.
  void End(std::size_t index) { shutdown(Fd(index), SHUT_RDWR); }

 private:
  Mutex mutex_;
  std::vector<int> fds_ ABSL_GUARDED_BY(mutex_);
};

class ConnectionListenerTest : public ::testing::Test {
 protected:
  void Listen(const std::string& address = "127.0.0.1:0") {
    auto listener = ConnectionListener::Listen(address, &count_);
    ASSERT_TRUE(listener.ok()) << listener.status();
    listener_ = *std::move(listener);
  }
  void ListenAndStart() {
    Listen();
    listener_->Start(taker_.Take());
  }
  PlainClient Connect() { return PlainClient(listener_->address()); }

  ConnectionCount count_{2};
  Taker taker_;
  std::unique_ptr<ConnectionListener> listener_;
};

TEST_F(ConnectionListenerTest, ClosesTheConnectionThatIsOneTooMany) {
  ListenAndStart();
  PlainClient first = Connect(), second = Connect();
  EXPECT_EQ(first.Read(), '!');
  EXPECT_EQ(second.Read(), '!');
  EXPECT_EQ(Connect().Read(), '\0');
  EXPECT_EQ(count_.num_open(), 2);
  EXPECT_EQ(count_.num_refused(), 1);
  EXPECT_EQ(taker_.num_taken(), 2u);
}

TEST_F(ConnectionListenerTest, WhoeverTookAConnectionMakesRoomByEndingIt) {
  ListenAndStart();
  PlainClient first = Connect(), second = Connect();
  EXPECT_EQ(first.Read(), '!');
  EXPECT_EQ(second.Read(), '!');
  taker_.End(0);
  WaitUntil([&] { return count_.num_open() == 1; });
  EXPECT_EQ(Connect().Read(), '!');
}

TEST_F(ConnectionListenerTest, AResetMakesRoom) {
  ListenAndStart();
  PlainClient first = Connect(), second = Connect();
  EXPECT_EQ(first.Read(), '!');
  EXPECT_EQ(second.Read(), '!');
  second.Reset();
  WaitUntil([&] { return count_.num_open() == 1; });
  EXPECT_EQ(Connect().Read(), '!');
}

TEST_F(ConnectionListenerTest, AHalfClosedConnectionKeepsItsPlace) {
  ListenAndStart();
  PlainClient first = Connect(), second = Connect();
  EXPECT_EQ(first.Read(), '!');
  EXPECT_EQ(second.Read(), '!');
  first.EndSending();
  char unused;
  WaitUntil([&] { return recv(taker_.Fd(0), &unused, 1, 0) == 0; });
  EXPECT_EQ(Connect().Read(), '\0');
  EXPECT_EQ(count_.num_open(), 2);
}

TEST_F(ConnectionListenerTest, WhoLeavesBeforeHisTurnIsNotHandedOver) {
  Listen();
  Connect().Reset();
  listener_->Start(taker_.Take());
  PlainClient stays = Connect();
  EXPECT_EQ(stays.Read(), '!');
  EXPECT_EQ(taker_.num_taken(), 1u);
  EXPECT_EQ(count_.num_open(), 1);
}

// While it lives the process can open nothing.
class NoDescriptors {
 public:
  NoDescriptors() {
    getrlimit(RLIMIT_NOFILE, &old_limit_);
    const int next = dup(STDIN_FILENO);
    close(next);
    const rlimit none = {static_cast<rlim_t>(next), old_limit_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &old_limit_); }

 private:
  rlimit old_limit_;
};

TEST_F(ConnectionListenerTest, WithoutDescriptorsConnectionsWaitAndNoneSpins) {
  ListenAndStart();
  PlainClient client;
  const auto start = std::chrono::steady_clock::now();
  {
    const NoDescriptors none;
    ASSERT_TRUE(client.Connect(listener_->address()));
    WaitUntil([&] { return count_.num_accept_failures() >= 3; });
  }
  EXPECT_EQ(client.Read(), '!');
  const auto elapsed = std::chrono::steady_clock::now() - start;
  EXPECT_LE(count_.num_accept_failures(),
            1 + elapsed / std::chrono::milliseconds(100));
  EXPECT_EQ(count_.num_open(), 1);
}

TEST_F(ConnectionListenerTest, OneDescriptorIsNotEnoughForAConnection) {
  ListenAndStart();
  PlainClient client;
  const int spare = dup(STDIN_FILENO);
  {
    const NoDescriptors none;
    close(spare);
    ASSERT_TRUE(client.Connect(listener_->address()));
    EXPECT_EQ(client.Read(), '\0');
  }
  EXPECT_EQ(count_.num_open(), 0);
  EXPECT_EQ(Connect().Read(), '!');
}

TEST_F(ConnectionListenerTest, AfterStopListeningOpenOnesAreCountedOn) {
  ListenAndStart();
  PlainClient client = Connect();
  EXPECT_EQ(client.Read(), '!');
  listener_->StopListening();
  EXPECT_FALSE(PlainClient().Connect(listener_->address()));
  EXPECT_EQ(count_.num_open(), 1);
  taker_.End(0);
  WaitUntil([&] { return count_.num_open() == 0; });
  listener_->StopListening();
}

TEST_F(ConnectionListenerTest, TheEndGivesAllPlacesBack) {
  ListenAndStart();
  PlainClient client = Connect();
  EXPECT_EQ(client.Read(), '!');
  listener_.reset();
  EXPECT_EQ(count_.num_open(), 0);
}

TEST_F(ConnectionListenerTest, CrowdsComeAndGoAndNoPlaceIsLost) {
  ListenAndStart();
  std::vector<std::thread> crowd;
  for (int i = 0; i < 4; ++i) {
    crowd.emplace_back([&, resets = i % 2 == 0] {
      for (int j = 0; j < 100; ++j) {
        PlainClient client = Connect();
        client.Read();
        if (resets) client.Reset();
      }
    });
  }
  for (std::thread& member : crowd) member.join();
  for (std::size_t i = 0; i < taker_.num_taken(); ++i) taker_.End(i);
  WaitUntil([&] { return count_.num_open() == 0; });
  EXPECT_EQ(Connect().Read(), '!');
}

TEST_F(ConnectionListenerTest, APortIsNotShared) {
  Listen();
  ConnectionCount other(1);
  for (const std::string host : {"127.0.0.1", "localhost", "0.0.0.0", "[::]"}) {
    const std::string port =
        listener_->address().substr(listener_->address().rfind(':'));
    const auto second = ConnectionListener::Listen(host + port, &other);
    EXPECT_THAT(std::string(second.status().message()),
                HasSubstr("Address already in use"))
        << host;
  }
}

TEST_F(ConnectionListenerTest, NamesAndAllAddressesAreListenedOn) {
  for (const std::string host : {"localhost", "0.0.0.0", "[::]"}) {
    Listen(host + ":0");
    EXPECT_THAT(listener_->address(), StartsWith(host + ":"));
    listener_->Start(taker_.Take());
    EXPECT_EQ(Connect().Read(), '!') << host;
    listener_.reset();
  }
}

TEST_F(ConnectionListenerTest, AnAddressThatIsNotHereIsAnError) {
  EXPECT_THAT(std::string(ConnectionListener::Listen("192.0.2.1:0", &count_)
                              .status()
                              .message()),
              HasSubstr("192.0.2.1:0"));
  EXPECT_THAT(ConnectionListener::Listen("localhost", &count_),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace semrank
