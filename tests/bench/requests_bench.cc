// Measures a request before it is admitted, which bounds what an overloaded
// server spends on a call that it refuses, and what JSON adds to a call.
#include <benchmark/benchmark.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "semrank/v1/embedding_service.pb.h"
#include "semrank/v1/ranking_service.pb.h"
#include "server/api/json_messages.h"
#include "server/api/json_request.h"
#include "server/base/vector_encoding.h"
#include "server/requests/request_run.h"
#include "tests/support/test_server.h"
#include "tests/support/tiny_model.h"

namespace semrank {
namespace {

class RefusedRun final : public RequestRun {
 public:
  explicit RefusedRun(const ServerParts& parts)
      : RequestRun(MethodOf(MethodId::kRank), parts, MakeRankHandler(parts)) {}
  absl::Status Run(std::string_view bytes) {
    Start(bytes);
    return status_;
  }

 private:
  absl::Time deadline() const override { return absl::InfiniteFuture(); }
  bool cancelled() const override { return false; }
  absl::Status SerializeResponse(
      const google::protobuf::MessageLite& /*response*/) override {
    return absl::OkStatus();
  }
  void Done(const absl::Status& status) override { status_ = status; }

  absl::Status status_;
};

// Titles have about 50 bytes.
v1::RankRequest MakeRequest(std::int64_t num_titles) {
  v1::RankRequest request;
  request.set_query("blue garden shoes");
  for (int i = 0; i < num_titles; ++i) {
    request.add_titles("a title of eight words or so, which is number " +
                       std::to_string(i));
  }
  return request;
}

// All permits but one are taken.
void BM_ReadAndRefuse_Rank(benchmark::State& state) {
  MemoryFolder folder;
  const auto server = MakeTestServer(folder, MakeTinyModel());
  const ServerParts& parts = server->parts();
  const auto permit =
      parts.admission->Admit(parts.limits.max_inflight_texts - 1).value();
  const std::string bytes = MakeRequest(state.range(0)).SerializeAsString();
  for (auto _ : state) {
    if (!absl::IsResourceExhausted(RefusedRun(parts).Run(bytes))) std::abort();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_ReadAndRefuse_Rank)->Arg(1)->Arg(100)->Arg(10'000);

void BM_ReadJson_Rank(benchmark::State& state) {
  const v1::RankRequest request = MakeRequest(state.range(0));
  const std::string json = ToJson(request);
  for (auto _ : state) {
    JsonRequest read;
    if (!ReadJsonRequest(json, *request.GetDescriptor(), read).ok()) {
      std::abort();
    }
    benchmark::DoNotOptimize(read.bytes.data());
  }
  state.SetBytesProcessed(state.iterations() *
                          static_cast<std::int64_t>(json.size()));
}
BENCHMARK(BM_ReadJson_Rank)->Arg(100)->Arg(1'000);

void BM_WriteJson_Ranking(benchmark::State& state) {
  v1::RankResponse response;
  for (int i = 0; i < state.range(0); ++i) {
    response.add_indices(i);
    response.add_scores(std::sin(static_cast<float>(i)));
  }
  for (auto _ : state) benchmark::DoNotOptimize(ToJson(response));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_WriteJson_Ranking)->Arg(100)->Arg(1'000);

void BM_WriteJson_Vectors(benchmark::State& state) {
  constexpr int kDim = 256;
  std::vector<float> numbers(state.range(0) * kDim);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = std::sin(static_cast<float>(i)) / 16;
  }
  v1::EmbedTextsResponse response;
  EncodeFloat32(numbers, *response.mutable_vectors());
  response.set_embedding_dim(kDim);
  for (auto _ : state) {
    benchmark::DoNotOptimize(ToJson(response, VectorForm::kNumbers));
  }
  state.SetItemsProcessed(state.iterations() *
                          static_cast<std::int64_t>(numbers.size()));
}
BENCHMARK(BM_WriteJson_Vectors)->Arg(100);

}  // namespace
}  // namespace semrank
