// Counts what a request allocates. A program of its own, since
// allocation_counter.cc replaces operator new for all of it.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "semrank/v1/ranking_service.pb.h"
#include "server/base/errors.h"
#include "server/requests/methods.h"
#include "server/requests/request_run.h"
#include "tests/server/rpc/allocation_counter.h"
#include "tests/support/fake_caller.h"
#include "tests/support/status_matchers.h"
#include "tests/support/test_server.h"
#include "tests/support/tiny_model.h"

namespace semrank {
namespace {

// A unary call as far as it is ours: bytes in, bytes out.
class BytesRun final : public RequestRun {
 public:
  BytesRun(MethodId id, const ServerParts& parts, std::vector<char>& answer)
      : RequestRun(MethodOf(id), parts, MethodOf(id).make_handler(parts)),
        answer_(answer) {}
  absl::Status Run(std::string_view bytes) {
    Start(bytes);
    return status_;
  }

 private:
  absl::Time deadline() const override { return absl::InfiniteFuture(); }
  bool cancelled() const override { return false; }
  absl::Status SerializeResponse(
      const google::protobuf::MessageLite& response) override {
    EXPECT_LE(response.ByteSizeLong(), answer_.size());
    response.SerializeWithCachedSizesToArray(
        reinterpret_cast<std::uint8_t*>(answer_.data()));
    return absl::OkStatus();
  }
  void Done(const absl::Status& status) override { status_ = status; }

  std::vector<char>& answer_;
  absl::Status status_;
};

class AllocationTest : public ::testing::Test {
 protected:
  AllocationTest() {
    for (int i = 0; i < 1'000; ++i) {
      titles_.push_back("a title of some words, number " + std::to_string(i));
    }
  }

  // Counts for the last of a few equal requests, when the thread has its memory
  // and the cache the titles.
  template <typename Request>
  static std::int64_t CountAfterWarmUp(Request request) {
    std::int64_t before = 0;
    for (int i = 0; i < 5; ++i) {
      before = NumAllocations();
      request();
    }
    return NumAllocations() - before;
  }
  std::int64_t CountOfEngine(int num_titles) {
    const std::vector<std::string_view> views(titles_.begin(),
                                              titles_.begin() + num_titles);
    const RankInput input = {.query = "some words", .titles = views};
    const ServedModelPtr served = parts_.models->current();
    RankState state;
    RankResult result;
    const FakeCaller caller;
    const std::int64_t count = CountAfterWarmUp([&] {
      EXPECT_TRUE(
          parts_.ranking->RunSlice(*served, input, caller, state, result).ok());
      EXPECT_EQ(result.ranking.size(), views.size());
    });
    EXPECT_EQ(result.cache.misses, 0u);
    return count;
  }
  std::int64_t CountOfRequest(int num_titles) {
    v1::RankRequest request;
    request.set_query("some words");
    for (int i = 0; i < num_titles; ++i) request.add_titles(titles_[i]);
    const std::string bytes = request.SerializeAsString();
    std::vector<char> answer(100'000);
    return CountAfterWarmUp([&] {
      EXPECT_TRUE(BytesRun(MethodId::kRank, parts_, answer).Run(bytes).ok());
    });
  }

  std::int64_t CountOfRefused(MethodId id, const std::string& bytes) {
    return CountAfterWarmUp([&] {
      std::vector<char> no_answer;
      EXPECT_EQ(ErrorReason(BytesRun(id, parts_, no_answer).Run(bytes)),
                "TOO_MANY_TEXTS");
    });
  }

  std::vector<std::string> titles_;
  MemoryFolder folder_;
  const std::unique_ptr<Server> server_ =
      MakeTestServer(folder_, MakeTinyModel());
  const ServerParts& parts_ = server_->parts();
};

// The numbers are those of server/DESIGN.md.
TEST_F(AllocationTest, TheEngineAllocatesNothingForCachedTitles) {
  EXPECT_EQ(CountOfEngine(100), 0);
  EXPECT_EQ(CountOfEngine(1'000), 0);
}

TEST_F(AllocationTest, ARequestAllocatesTheSameFewTimesForAnyNumberOfTitles) {
  const std::int64_t count = CountOfRequest(100);
  EXPECT_LE(count, 10);
  EXPECT_EQ(CountOfRequest(1'000), count);
}

TEST_F(AllocationTest,
       ARequestOfTooManyTinyItemsIsRefusedWithoutMemoryForThem) {
  const auto count = [&](int num_items) {
    std::string documents, titles = "\x0a\x01q";
    for (int i = 0; i < num_items; ++i) documents += std::string("\x0a\0", 2);
    for (int i = 0; i < num_items; ++i) titles += std::string("\x12\0", 2);
    return CountOfRefused(MethodId::kPutDocuments, documents) +
           CountOfRefused(MethodId::kRank, titles);
  };
  EXPECT_LE(count(2'000'000), count(20'000));
}

TEST_F(AllocationTest, TheCounterCounts) {
  EXPECT_EQ(CountAfterWarmUp([] { const std::vector<int> v(10); }), 1);
}

}  // namespace
}  // namespace semrank
