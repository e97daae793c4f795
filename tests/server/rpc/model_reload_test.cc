// Models change under calls that run: none fails, and each gets the scores of
// the version that it says answered.
#include <atomic>
#include <map>
#include <thread>

#include "semrank/v1/model_service.grpc.pb.h"
#include "semrank/v1/ranking_service.grpc.pb.h"
#include "tests/server/rpc/rpc_server_fixture.h"
#include "tests/support/tiny_model.h"

namespace semrank {
namespace {

constexpr int kNumVersions = 20;
constexpr int kNumCallers = 3;

class ModelReloadTest : public RpcServerFixture {
 protected:
  ModelReloadTest() { Swap(1); }
  ~ModelReloadTest() override {
    stop_ = true;
    for (std::thread& caller : callers_) caller.join();
  }

  // Equal texts have other vectors in every version.
  void Swap(std::int64_t version) {
    folder_.Put(version,
                MakeTinyModel({.version = version,
                               .seed = static_cast<std::uint32_t>(version)}));
  }
  v1::RankResponse Rank() {
    v1::RankRequest request;
    request.set_query("blue shoes");
    for (const char* title : {"red hat", "shoes that are blue", "a lamp"}) {
      request.add_titles(title);
    }
    grpc::ClientContext context;
    v1::RankResponse response;
    const grpc::Status status = v1::RankingService::NewStub(channel_)->Rank(
        &context, request, &response);
    if (!status.ok()) ++num_failed_;
    return response;
  }
  void StartCallers() {
    for (int i = 0; i < kNumCallers; ++i) {
      callers_.emplace_back([this] {
        while (!stop_) {
          const v1::RankResponse response = Rank();
          const std::vector<float> scores(response.scores().begin(),
                                          response.scores().end());
          if (scores != expected_.at(response.model().version())) {
            ++num_wrong_;
          }
          ++num_answered_;
        }
      });
    }
  }
  // Until every caller has surely begun and ended a call.
  void WaitForCalls() {
    const int target = num_answered_ + 2 * kNumCallers;
    while (num_answered_ < target) std::this_thread::yield();
  }

  std::map<std::int64_t, std::vector<float>> expected_;
  std::atomic<int> num_answered_ = 0, num_failed_ = 0, num_wrong_ = 0;
  std::atomic<bool> stop_ = false;
  std::vector<std::thread> callers_;
};

TEST_F(ModelReloadTest, NoCallFailsAndNoneGetsAnotherModelsVectors) {
  // What each version answers, and its vectors in the cache.
  // Version 1, which the fixture serves with a gate, is replaced on the way.
  for (int version = kNumVersions; version >= 1; --version) {
    Swap(version);
    ASSERT_TRUE(models_.Reload("", version).ok());
    const v1::RankResponse response = Rank();
    ASSERT_EQ(response.model().version(), version);
    expected_[version].assign(response.scores().begin(),
                              response.scores().end());
  }
  StartCallers();
  const auto stub = v1::ModelService::NewStub(channel_);
  for (int i = 0; i < 3 * kNumVersions; ++i) {
    v1::ReloadModelRequest request;
    request.mutable_model()->set_version(1 + i * 7 % kNumVersions);
    grpc::ClientContext context;
    v1::ReloadModelResponse response;
    ASSERT_THAT(stub->ReloadModel(&context, request, &response), Succeeds());
    EXPECT_EQ(response.model().version(), request.model().version());
    WaitForCalls();
  }
  EXPECT_EQ(num_failed_, 0);
  EXPECT_EQ(num_wrong_, 0);
  EXPECT_GE(num_answered_, 3 * kNumVersions * 2 * kNumCallers);
}

TEST_F(ModelReloadTest, ARequestKeepsTheModelThatItBeganWith) {
  folder_.Put(1, MakeGatedModel(&gate_));
  ASSERT_TRUE(models_.Reload("", 1).ok());
  gate_.Close();
  v1::RankResponse response;
  std::thread caller([&] { response = Rank(); });
  gate_.WaitForArrival();
  Swap(2);
  ASSERT_TRUE(models_.Reload("", 2).ok());
  EXPECT_EQ(models_.Describe("", 1)->state, ModelState::kRetiring);
  gate_.Open();
  caller.join();
  EXPECT_EQ(num_failed_, 0);
  EXPECT_EQ(response.model().version(), 1);
}

}  // namespace
}  // namespace semrank
