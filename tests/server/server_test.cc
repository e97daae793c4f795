#include "server/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/event_folder.h"
#include "tests/support/http_client.h"
#include "tests/support/memory_source.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/support/tiny_model.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class ServerTest : public ::testing::Test {
 protected:
  ServerTest() {
    options_.listen_address = options_.http_address = "127.0.0.1:0";
    options_.cache_bytes = 1 << 20;
    options_.models.poll_interval = absl::ZeroDuration();
  }
  std::unique_ptr<Server> Make() {
    ServerSubstitutes substitutes;
    substitutes.models = {{folder_.Source("tiny")}};
    return Server::Create(options_, std::move(substitutes)).value();
  }
  static std::string HttpAddress(const Server& server) {
    const std::string addresses = server.addresses();
    return addresses.substr(addresses.find("http=") + 5);
  }

  MemoryFolder folder_;
  ServerOptions options_;
};

TEST_F(ServerTest, IsReadyBetweenStartAndStop) {
  folder_.Put(1, MakeTinyModel());
  const auto server = Make();
  ASSERT_THAT(server->Start(), IsOk());
  const std::string address = HttpAddress(*server);
  EXPECT_EQ(HttpGet(address, "/readyz").status, 200);
  EXPECT_TRUE(server->Stop(absl::Now() + absl::Seconds(30)));
  EXPECT_EQ(HttpGet(address, "/readyz").status, 0);
}

TEST_F(ServerTest, StopWritesTheQueuedImpressions) {
  folder_.Put(1, MakeTinyModel());
  const TempDir dir;
  const std::string folder = dir.File("events");
  options_.events.destination = EventFiles::Options{.folder = folder};
  ServerSubstitutes substitutes;
  substitutes.models = {{folder_.Source("tiny")}};
  substitutes.events.impression_delay = absl::Hours(1);
  const auto server = Server::Create(options_, std::move(substitutes)).value();
  ASSERT_THAT(server->Start(), IsOk());
  server->parts().events->AddImpression({.query = "shoe"}, 1);
  EXPECT_TRUE(server->Stop(absl::Now() + absl::Seconds(30)));
  EXPECT_THAT(RecordsOf<Impression>(folder), SizeIs(1));
}

TEST_F(ServerTest, OnLoopbackAnswersUnderItsNamesOnly) {
  folder_.Put(1, MakeTinyModel());
  options_.security.server_names = {"shop.test"};
  const auto server = Make();
  ASSERT_THAT(server->Start(), IsOk());
  const std::string address = HttpAddress(*server);
  // The host of a target in absolute form replaces the header's.
  EXPECT_EQ(HttpGet(address, "http://shop.test/readyz").status, 200);
  EXPECT_EQ(HttpGet(address, "http://evil.test/readyz").status, 421);
  const HttpAnswer call =
      CallHttp(address, "POST", "http://evil.test/v1/limits", {.body = "{}"});
  EXPECT_EQ(call.status, 421);
  EXPECT_THAT(call.body, HasSubstr("HOST_NOT_ALLOWED"));
}

TEST_F(ServerTest, APortInUseIsUnavailableBeforeAModelIsLoaded) {
  folder_.Put(1, MakeTinyModel());
  const auto first = Make();
  ASSERT_THAT(first->Start(), IsOk());
  options_.http_address = HttpAddress(*first);
  EXPECT_THAT(Make()->Start(), StatusIs(absl::StatusCode::kUnavailable,
                                        HasSubstr(options_.http_address)));
  EXPECT_EQ(folder_.num_loads(), 1);
}

TEST_F(ServerTest, AMissingModelFailsTheStart) {
  EXPECT_THAT(Make()->Start(), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(ServerTest, TheStartWaitsForAModelIfAsked) {
  options_.models.wait_for_model = true;
  EXPECT_THAT(
      Make()->Start(
          {.wait = [&](absl::Duration) { folder_.Put(1, MakeTinyModel()); }}),
      IsOk());
}

TEST_F(ServerTest, AStartThatIsCancelledEnds) {
  options_.models.wait_for_model = true;
  bool cancelled = false;
  EXPECT_THAT(
      Make()->Start({.cancelled = [&] { return cancelled; },
                     .wait = [&](absl::Duration) { cancelled = true; }}),
      StatusIs(absl::StatusCode::kCancelled));
}

}  // namespace
}  // namespace semrank
