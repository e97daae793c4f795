#include "server/rpc/memory_watchdog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "model/base/file_descriptor.h"
#include "tests/support/plain_client.h"
#include "tests/support/tcp_listener.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr std::size_t kMuch = 1 << 20;
constexpr std::size_t kLittle = 1000;

// Connections that the test's own clients send bytes through.
class MemoryWatchdogTest : public ::testing::Test {
 protected:
  // Returns the descriptor of the server's side.
  int Connect() {
    clients_.emplace_back(listener_.address());
    accepted_.push_back(FileDescriptor::Own(listener_.Accept(), "accepted"));
    sockets_.insert(accepted_.back().get());
    return accepted_.back().get();
  }
  // Returns when all of it has come.
  void Send(std::size_t connection, std::size_t num_bytes) {
    const std::string piece(1000, 'x');
    for (std::size_t sent = 0; sent < num_bytes; sent += piece.size()) {
      ASSERT_TRUE(clients_[connection].Send(piece));
      std::string read(piece.size(), '\0');
      ASSERT_EQ(recv(accepted_[connection].get(), read.data(), read.size(),
                     MSG_WAITALL),
                static_cast<ssize_t>(read.size()));
    }
  }

  const TcpListener listener_;
  std::vector<PlainClient> clients_;
  std::vector<FileDescriptor> accepted_;
  std::unordered_set<int> sockets_;
  std::int64_t memory_mib_ = 100;
  MemoryWatchdog watchdog_{1000 << 20, [this] { return memory_mib_ << 20; }};
};

TEST_F(MemoryWatchdogTest, ChoosesNothingBelowTheLimit) {
  Connect();
  for (memory_mib_ = 100; memory_mib_ <= 1000; memory_mib_ += 300) {
    Send(0, kMuch);
    EXPECT_THAT(watchdog_.Choose(sockets_), IsEmpty());
  }
}

TEST_F(MemoryWatchdogTest, ChoosesWhatBroughtMostSinceTheLastLook) {
  Connect();
  const int flood = Connect();
  const int another = Connect();
  Connect();
  memory_mib_ = 1100;
  Send(0, 3 * kMuch);  // before the first look, which has no earlier counts
  EXPECT_THAT(watchdog_.Choose(sockets_), IsEmpty());
  Send(0, kLittle);
  Send(1, kMuch);
  Send(2, kMuch / 4 * 3);
  Send(3, kMuch / 4);
  memory_mib_ = 1200;
  EXPECT_THAT(watchdog_.Choose(sockets_), UnorderedElementsAre(flood, another));
}

TEST_F(MemoryWatchdogTest, ChoosesAConnectionThatIsNew) {
  Connect();
  memory_mib_ = 1100;
  EXPECT_THAT(watchdog_.Choose(sockets_), IsEmpty());
  const int flood = Connect();
  Send(1, kMuch);
  memory_mib_ = 1200;
  EXPECT_THAT(watchdog_.Choose(sockets_), ElementsAre(flood));
}

TEST_F(MemoryWatchdogTest, ChoosesNothingWhileMemoryDoesNotGrow) {
  Connect();
  memory_mib_ = 1200;
  EXPECT_THAT(watchdog_.Choose(sockets_), IsEmpty());
  for (memory_mib_ = 1200; memory_mib_ > 1000; memory_mib_ -= 100) {
    Send(0, kMuch);
    EXPECT_THAT(watchdog_.Choose(sockets_), IsEmpty());
  }
}

TEST_F(MemoryWatchdogTest, ChoosesNothingThatBroughtMoreThanMemoryGrew) {
  Connect();
  for (memory_mib_ = 1100; memory_mib_ < 1110; ++memory_mib_) {
    Send(0, 4 * kMuch);
    EXPECT_THAT(watchdog_.Choose(sockets_), IsEmpty());
  }
}

TEST_F(MemoryWatchdogTest, ChoosesNoConnectionThatBringsLittle) {
  Connect();
  for (memory_mib_ = 1100; memory_mib_ < 2000; memory_mib_ += 100) {
    Send(0, kLittle);
    EXPECT_THAT(watchdog_.Choose(sockets_), IsEmpty());
  }
}

}  // namespace
}  // namespace semrank
