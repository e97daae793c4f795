// Header blocks that never end (CONTINUATION flood) before a whole gRPC server.
#include <malloc.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "model/base/resources.h"
#include "semrank/v1/ranking_service.grpc.pb.h"
#include "tests/server/rpc/rpc_server_fixture.h"
#include "tests/support/plain_client.h"

namespace semrank {
namespace {

constexpr char kHeaders = 1, kSettings = 4, kContinuation = 9;

// Without flags; RFC 9113, section 4.1.
std::string Frame(char type, const std::string& payload) {
  const auto size = static_cast<std::uint32_t>(payload.size());
  const char stream = type == kSettings ? 0 : 1;
  std::string frame = {static_cast<char>(size >> 16),
                       static_cast<char>(size >> 8), static_cast<char>(size),
                       type};
  frame.append(4, 0).push_back(stream);
  return frame + payload;
}

// A literal without indexing; RFC 7541, section 6.2.2.
std::string Header(const std::string& name, const std::string& value) {
  std::string header(1, 0);
  for (const std::string& text : {name, value}) {
    header.push_back(static_cast<char>(text.size()));
    header += text;
  }
  return header;
}

class HeaderFlood {
 public:
  explicit HeaderFlood(const std::string& address) : client_(address) {
    for (int i = 0; i < 140; ++i) {
      frame_ += Header("x-junk", std::string(100, 'j'));
    }
    frame_ = Frame(kContinuation, frame_);
    EXPECT_TRUE(client_.Send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" +
                             Frame(kSettings, "") +
                             Frame(kHeaders, Header(":path", "/a"))));
  }

  // Sends until the server ends the connection, but not for ever.
  void Run() {
    while (num_sent_ < kMost && client_.Send(frame_)) {
      num_sent_ += frame_.size();
    }
  }
  std::size_t num_sent() const { return num_sent_; }
  bool was_ended() const { return num_sent_ < kMost; }

 private:
  // Without an end it would take all memory.
  static constexpr std::size_t kMost = std::size_t{2} << 30;

  PlainClient client_;
  std::string frame_;
  std::atomic<std::size_t> num_sent_ = 0;
};

using HeaderFloodTest = RpcServerFixture;

TEST_F(HeaderFloodTest, IsEndedByTheWatchdogAndTheCallsOfOthersPass) {
  constexpr std::int64_t kAllowed = 16 << 20;
  malloc_trim(0);  // what other tests have freed would be filled first
  max_memory_bytes_ = ResidentMemory() + kAllowed;
  const auto server = StartServer("127.0.0.1:0");
  ASSERT_TRUE(server.ok()) << server.status();
  HeaderFlood flood((*server)->address());
  flood.Run();
  EXPECT_TRUE(flood.was_ended());
  EXPECT_GE(connections_.num_floods(), 1);

  const auto channel = grpc::CreateChannel((*server)->address(),
                                           grpc::InsecureChannelCredentials());
  grpc::ClientContext context;
  v1::RankRequest request;
  request.set_query("q");
  request.add_titles("a title");
  v1::RankResponse response;
  EXPECT_THAT(
      v1::RankingService::NewStub(channel)->Rank(&context, request, &response),
      Succeeds());
}

TEST_F(HeaderFloodTest, DoesNotKeepTheServerFromStopping) {
  constexpr std::size_t kUnderWay = 1 << 20;
  HeaderFlood flood(server_->address());
  std::thread sender([&] { flood.Run(); });
  while (flood.num_sent() < kUnderWay) std::this_thread::yield();
  server_->Stop(absl::Hours(1));
  sender.join();
  EXPECT_TRUE(flood.was_ended());
}

}  // namespace
}  // namespace semrank
